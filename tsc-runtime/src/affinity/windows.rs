//! Windows: affinity within a processor group of 64 CPUs, and thread priorities.
//!
//! A CPU's number is 64 times its group plus its number in the group, as in Task Manager.

use std::{io, ptr};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentThread,
    GetThreadGroupAffinity, GetThreadPriority, SetThreadGroupAffinity, SetThreadPriority,
    THREAD_PRIORITY_HIGHEST,
};

use super::AffinityError;

/// A set of CPUs of one group.
#[derive(Debug)]
pub(super) struct Mask {
    group: u16,
    cpus: usize,
}

const GROUP_CPUS: usize = 64;
/// What `GetThreadPriority` returns if it fails.
const NO_PRIORITY: i32 = i32::MAX;

pub(super) fn cpus() -> Result<Vec<usize>, AffinityError> {
    let mask = mask().map_err(|source| AffinityError::Unknown { source })?;
    let first = usize::from(mask.group) * GROUP_CPUS;
    let has = |bit: &usize| mask.cpus >> bit & 1 == 1;
    let bits = (0..usize::BITS as usize).filter(has);
    Ok(bits.map(|bit| first + bit).collect())
}

/// Pins the thread, and returns its previous mask.
pub(super) fn pin(cpu: usize) -> Result<Mask, AffinityError> {
    let online = online();
    if !online.contains(&cpu) {
        return Err(AffinityError::NoSuchCpu { cpu, online });
    }
    let before = mask().map_err(|source| AffinityError::Unknown { source })?;
    let only = Mask {
        group: (cpu / GROUP_CPUS) as u16,
        cpus: 1 << (cpu % GROUP_CPUS),
    };
    match restore(&only) {
        Ok(()) => Ok(before),
        Err(source) => Err(AffinityError::Refused {
            cpu,
            allowed: cpus()?,
            source,
        }),
    }
}

/// Lets the thread run on the CPUs in `mask`.
pub(super) fn restore(mask: &Mask) -> io::Result<()> {
    let mask = GROUP_AFFINITY {
        Mask: mask.cpus,
        Group: mask.group,
        ..GROUP_AFFINITY::default()
    };
    // SAFETY: the call reads one structure. A null pointer for the previous affinity is permitted.
    checked(unsafe { SetThreadGroupAffinity(this_thread(), &raw const mask, ptr::null_mut()) })
}

fn mask() -> io::Result<Mask> {
    let mut mask = GROUP_AFFINITY::default();
    // SAFETY: the call writes one structure to the given address.
    checked(unsafe { GetThreadGroupAffinity(this_thread(), &raw mut mask) })?;
    Ok(Mask {
        group: mask.Group,
        cpus: mask.Mask,
    })
}

/// The machine's online CPUs, also those that this thread may not use.
fn online() -> Vec<usize> {
    // SAFETY: the call has no arguments.
    let groups = unsafe { GetActiveProcessorGroupCount() };
    let of_group = |group: u16| {
        // SAFETY: the argument is a number. For a group that does not exist, the result is 0.
        let count = unsafe { GetActiveProcessorCount(group) } as usize;
        (0..count).map(move |cpu| usize::from(group) * GROUP_CPUS + cpu)
    };
    (0..groups).flat_map(of_group).collect()
}

/// Raises the thread's priority to the highest ordinary one. Returns the nice values before and after.
pub(super) fn raise_priority() -> Result<(i32, i32), AffinityError> {
    const HIGHEST: i32 = -THREAD_PRIORITY_HIGHEST;
    let before = nice().map_err(|source| AffinityError::Priority { nice: 0, source })?;
    if before <= HIGHEST {
        return Ok((before, before));
    }
    set_nice(HIGHEST).map_err(|source| AffinityError::Priority {
        nice: before,
        source,
    })?;
    Ok((before, HIGHEST))
}

/// The negated priority of the calling thread, so that a smaller value is a higher priority, as for nice values.
pub(super) fn nice() -> io::Result<i32> {
    // SAFETY: the handle is valid for the calling thread.
    match unsafe { GetThreadPriority(this_thread()) } {
        NO_PRIORITY => Err(io::Error::last_os_error()),
        priority => Ok(-priority),
    }
}

pub(super) fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: the handle is valid for the calling thread; the other argument is a number.
    checked(unsafe { SetThreadPriority(this_thread(), -nice) })
}

fn this_thread() -> HANDLE {
    // SAFETY: the call has no arguments. The handle stands for whichever thread uses it, and need not be closed.
    unsafe { GetCurrentThread() }
}

fn checked(answer: i32) -> io::Result<()> {
    if answer == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// The CPU that the calling thread runs on.
#[cfg(test)]
pub(super) fn current_cpu() -> usize {
    use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
    use windows_sys::Win32::System::Threading::GetCurrentProcessorNumberEx;

    let mut number = PROCESSOR_NUMBER::default();
    // SAFETY: the call writes one structure to the given address.
    unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
    usize::from(number.Group) * GROUP_CPUS + usize::from(number.Number)
}
