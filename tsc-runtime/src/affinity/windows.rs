//! Windows: affinity within a processor group of 64 CPUs, and thread priorities.
//!
//! A CPU's number here is 64 times its group and its number therein, as Task Manager counts them.

use std::io;
use std::ptr;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentThread,
    GetThreadGroupAffinity, GetThreadPriority, SetThreadGroupAffinity, SetThreadPriority,
    THREAD_PRIORITY_HIGHEST,
};

use super::AffinityError;

/// CPUs of one group.
#[derive(Debug)]
pub(super) struct Mask {
    group: u16,
    cpus: usize,
}

const GROUP_CPUS: usize = 64;
/// What `GetThreadPriority` answers if it fails.
const NO_PRIORITY: i32 = i32::MAX;

pub(super) fn cpus() -> Result<Vec<usize>, AffinityError> {
    let mask = mask().map_err(|source| AffinityError::Unknown { source })?;
    let first = usize::from(mask.group) * GROUP_CPUS;
    let has = |bit: &usize| mask.cpus >> bit & 1 == 1;
    let bits = (0..usize::BITS as usize).filter(has);
    Ok(bits.map(|bit| first + bit).collect())
}

/// Pins the thread and returns what it was allowed before.
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

/// Lets the thread run where `mask` says.
pub(super) fn restore(mask: &Mask) -> io::Result<()> {
    let mask = GROUP_AFFINITY {
        Mask: mask.cpus,
        Group: mask.group,
        ..GROUP_AFFINITY::default()
    };
    // SAFETY: reads one structure; the previous affinity is not asked for.
    checked(unsafe { SetThreadGroupAffinity(this_thread(), &raw const mask, ptr::null_mut()) })
}

fn mask() -> io::Result<Mask> {
    let mut mask = GROUP_AFFINITY::default();
    // SAFETY: writes one structure to the address it is given.
    checked(unsafe { GetThreadGroupAffinity(this_thread(), &raw mut mask) })?;
    Ok(Mask {
        group: mask.Group,
        cpus: mask.Mask,
    })
}

/// The CPUs the machine has running, whoever may use them.
fn online() -> Vec<usize> {
    // SAFETY: takes nothing.
    let groups = unsafe { GetActiveProcessorGroupCount() };
    let of_group = |group: u16| {
        // SAFETY: takes a number; of a group that is not there it answers 0.
        let count = unsafe { GetActiveProcessorCount(group) } as usize;
        (0..count).map(move |cpu| usize::from(group) * GROUP_CPUS + cpu)
    };
    (0..groups).flat_map(of_group).collect()
}

/// Raises the thread's priority to the highest ordinary one; returns the nice values before and after.
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

/// The calling thread's priority with the other sign, so that less is more urgent, as with nice values.
pub(super) fn nice() -> io::Result<i32> {
    // SAFETY: takes a handle that is valid for the calling thread.
    match unsafe { GetThreadPriority(this_thread()) } {
        NO_PRIORITY => Err(io::Error::last_os_error()),
        priority => Ok(-priority),
    }
}

pub(super) fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: takes a handle that is valid for the calling thread, and a number.
    checked(unsafe { SetThreadPriority(this_thread(), -nice) })
}

fn this_thread() -> HANDLE {
    // SAFETY: takes nothing; the handle stands for whichever thread uses it, and need not be closed.
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
    // SAFETY: writes one structure to the address it is given.
    unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
    usize::from(number.Group) * GROUP_CPUS + usize::from(number.Number)
}
