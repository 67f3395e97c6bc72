//! Windows: the real-time class of the process, and the highest priority in it for one thread.

use std::io;

use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetCurrentProcess, GetCurrentThread, GetPriorityClass,
    GetThreadPriority, REALTIME_PRIORITY_CLASS, SetPriorityClass, SetThreadPriority,
    THREAD_PRIORITY_TIME_CRITICAL,
};

use crate::affinity::AffinityError;

/// The group number that stands for all groups of CPUs.
const ALL_GROUPS: u16 = 0xffff;
/// What `GetThreadPriority` returns if it fails.
const NO_PRIORITY: i32 = i32::MAX;

/// The class of the process, and the priority of the calling thread in it.
#[derive(Debug)]
pub(super) struct Class {
    class: u32,
    priority: i32,
}

pub(super) fn enter() -> Result<Class, AffinityError> {
    // SAFETY: the argument is a number.
    if unsafe { GetActiveProcessorCount(ALL_GROUPS) } == 1 {
        return Err(AffinityError::OneCpu);
    }
    let refused = |source| AffinityError::RealTime { source };
    let before = class().map_err(refused)?;
    set(&Class {
        class: REALTIME_PRIORITY_CLASS,
        priority: THREAD_PRIORITY_TIME_CRITICAL,
    })
    .map_err(refused)?;
    // Without the right to increase priorities, Windows sets another class and reports no error.
    match class() {
        Ok(now) if now.class == REALTIME_PRIORITY_CLASS => Ok(before),
        now => {
            restore(&before);
            Err(refused(now.map_or_else(
                |source| source,
                |_| io::ErrorKind::PermissionDenied.into(),
            )))
        }
    }
}

pub(super) fn restore(before: &Class) {
    // Lowering the priority is always permitted.
    let _ = set(before);
}

pub(super) fn class() -> io::Result<Class> {
    // SAFETY: the handles stand for the calling process and thread, and are always valid.
    let (class, priority) = unsafe {
        (
            GetPriorityClass(GetCurrentProcess()),
            GetThreadPriority(GetCurrentThread()),
        )
    };
    if class == 0 || priority == NO_PRIORITY {
        return Err(io::Error::last_os_error());
    }
    Ok(Class { class, priority })
}

fn set(class: &Class) -> io::Result<()> {
    // SAFETY: as above; the other arguments are numbers.
    let done = unsafe {
        SetPriorityClass(GetCurrentProcess(), class.class) != 0
            && SetThreadPriority(GetCurrentThread(), class.priority) != 0
    };
    if done {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
pub(super) fn is_real_time(class: &Class) -> bool {
    class.class == REALTIME_PRIORITY_CLASS && class.priority == THREAD_PRIORITY_TIME_CRITICAL
}
