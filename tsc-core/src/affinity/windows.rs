//! Windows: affinity within a processor group of 64 CPUs, thread priorities, and the real-time class of the process.
//!
//! A CPU's number is 64 times its group plus its number in the group, as in Task Manager.

use std::{io, ptr};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcess, GetCurrentThread,
    GetPriorityClass, GetThreadGroupAffinity, GetThreadPriority, REALTIME_PRIORITY_CLASS,
    SetPriorityClass, SetThreadGroupAffinity, SetThreadPriority, THREAD_PRIORITY_HIGHEST,
    THREAD_PRIORITY_TIME_CRITICAL,
};

pub(super) const UNSUPPORTED: Option<&str> = None;

/// A set of CPUs of one group.
#[derive(Debug)]
pub(super) struct Mask {
    group: u16,
    cpus: usize,
}

const GROUP_CPUS: usize = 64;
/// What `GetThreadPriority` returns if it fails.
const NO_PRIORITY: i32 = i32::MAX;

pub(super) fn cpus_in(mask: &Mask) -> Vec<usize> {
    let first = usize::from(mask.group) * GROUP_CPUS;
    let has = |bit: &usize| mask.cpus >> bit & 1 == 1;
    let bits = (0..usize::BITS as usize).filter(has);
    bits.map(|bit| first + bit).collect()
}

/// The mask with this CPU alone. `None` if it is not online.
pub(super) fn only(cpu: usize) -> Option<Mask> {
    online().contains(&cpu).then(|| Mask {
        group: (cpu / GROUP_CPUS) as u16,
        cpus: 1 << (cpu % GROUP_CPUS),
    })
}

/// Lets the thread run on the CPUs in `mask`.
pub(super) fn set_mask(mask: &Mask) -> io::Result<()> {
    let mask = GROUP_AFFINITY {
        Mask: mask.cpus,
        Group: mask.group,
        ..GROUP_AFFINITY::default()
    };
    // SAFETY: the call reads one structure. A null pointer for the previous affinity is permitted.
    checked(unsafe { SetThreadGroupAffinity(this_thread(), &raw const mask, ptr::null_mut()) })
}

pub(super) fn mask() -> io::Result<Mask> {
    let mut mask = GROUP_AFFINITY::default();
    // SAFETY: the call writes one structure to the given address.
    checked(unsafe { GetThreadGroupAffinity(this_thread(), &raw mut mask) })?;
    Ok(Mask {
        group: mask.Group,
        cpus: mask.Mask,
    })
}

/// The machine's online CPUs, also those that this thread may not use.
pub(super) fn online() -> Vec<usize> {
    // SAFETY: the call has no arguments.
    let groups = unsafe { GetActiveProcessorGroupCount() };
    let of_group = |group: u16| {
        // SAFETY: the argument is a number. For a group that does not exist, the result is 0.
        let count = unsafe { GetActiveProcessorCount(group) } as usize;
        (0..count).map(move |cpu| usize::from(group) * GROUP_CPUS + cpu)
    };
    (0..groups).flat_map(of_group).collect()
}

/// The negated highest ordinary priority.
pub(super) const HIGHEST_NICE: i32 = -THREAD_PRIORITY_HIGHEST;

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

/// The class of the process, and the nice value of the calling thread in it.
#[derive(Debug)]
pub(super) struct Class {
    class: u32,
    nice: i32,
}

pub(super) const RIGHT: &str = "an administrator's right to increase priorities";

pub(super) const REAL_TIME: Class = Class {
    class: REALTIME_PRIORITY_CLASS,
    nice: -THREAD_PRIORITY_TIME_CRITICAL,
};

pub(super) fn class() -> io::Result<Class> {
    let nice = nice()?;
    // SAFETY: the handle stands for the calling process, and is always valid.
    match unsafe { GetPriorityClass(GetCurrentProcess()) } {
        0 => Err(io::Error::last_os_error()),
        class => Ok(Class { class, nice }),
    }
}

pub(super) fn set_class(wanted: &Class) -> io::Result<()> {
    // SAFETY: as above; the other argument is a number.
    checked(unsafe { SetPriorityClass(GetCurrentProcess(), wanted.class) })?;
    set_nice(wanted.nice)?;
    // Without the right to increase priorities, Windows sets another class and reports no error.
    if class()?.class != wanted.class {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

fn this_thread() -> HANDLE {
    // SAFETY: the call has no arguments. The handle stands for whichever thread uses it, and need not be closed.
    unsafe { GetCurrentThread() }
}

fn checked(answer: i32) -> io::Result<()> {
    match answer {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
    use windows_sys::Win32::System::Threading::GetCurrentProcessorNumberEx;

    use super::*;

    pub(in super::super) fn is_real_time() -> bool {
        let now = class().unwrap();
        now.class == REALTIME_PRIORITY_CLASS && now.nice == -THREAD_PRIORITY_TIME_CRITICAL
    }

    /// The CPU that the calling thread runs on.
    pub(in super::super) fn current_cpu() -> usize {
        let mut number = PROCESSOR_NUMBER::default();
        // SAFETY: the call writes one structure to the given address.
        unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
        usize::from(number.Group) * GROUP_CPUS + usize::from(number.Number)
    }
}
