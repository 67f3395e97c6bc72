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

use super::AffinityError;

/// A set of CPUs of one group.
#[derive(Debug)]
pub(super) struct Mask {
    group: u16,
    cpus: usize,
}

const GROUP_CPUS: usize = 64;
/// The group number that stands for all groups of CPUs.
const ALL_GROUPS: u16 = 0xffff;
/// What `GetThreadPriority` returns if it fails.
const NO_PRIORITY: i32 = i32::MAX;

pub(super) fn cpus() -> Result<Vec<usize>, AffinityError> {
    let mask = mask()?;
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
    let before = mask()?;
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

fn mask() -> Result<Mask, AffinityError> {
    let mut mask = GROUP_AFFINITY::default();
    // SAFETY: the call writes one structure to the given address.
    let answer = unsafe { GetThreadGroupAffinity(this_thread(), &raw mut mask) };
    checked(answer).map_err(|source| AffinityError::Unknown { source })?;
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
    let refused = |nice| move |source| AffinityError::Priority { nice, source };
    let before = nice().map_err(refused(0))?;
    if before <= HIGHEST {
        return Ok((before, before));
    }
    set_nice(HIGHEST).map_err(refused(before))?;
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

/// The class of the process, and the nice value of the calling thread in it.
#[derive(Debug)]
pub(super) struct Class {
    class: u32,
    nice: i32,
}

/// Makes the process one of the real-time class, in which the thread has the highest priority. Returns their previous class and priority.
pub(super) fn enter_real_time() -> Result<Class, AffinityError> {
    // SAFETY: the argument is a number.
    if unsafe { GetActiveProcessorCount(ALL_GROUPS) } == 1 {
        return Err(AffinityError::OneCpu);
    }
    let refused = |source| AffinityError::RealTime { source };
    let before = class().map_err(refused)?;
    set_class(&Class {
        class: REALTIME_PRIORITY_CLASS,
        nice: -THREAD_PRIORITY_TIME_CRITICAL,
    })
    .map_err(refused)?;
    // Without the right to increase priorities, Windows sets another class and reports no error.
    let granted = |now: Class| match now.class {
        REALTIME_PRIORITY_CLASS => Ok(()),
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    };
    match class().and_then(granted) {
        Ok(()) => Ok(before),
        Err(source) => {
            set_class_back(&before);
            Err(refused(source))
        }
    }
}

pub(super) fn set_class_back(before: &Class) {
    // Lowering the priority is always permitted.
    let _ = set_class(before);
}

fn class() -> io::Result<Class> {
    let nice = nice()?;
    // SAFETY: the handle stands for the calling process, and is always valid.
    match unsafe { GetPriorityClass(GetCurrentProcess()) } {
        0 => Err(io::Error::last_os_error()),
        class => Ok(Class { class, nice }),
    }
}

fn set_class(class: &Class) -> io::Result<()> {
    // SAFETY: as above; the other argument is a number.
    checked(unsafe { SetPriorityClass(GetCurrentProcess(), class.class) })?;
    set_nice(class.nice)
}

#[cfg(test)]
pub(super) fn is_real_time() -> bool {
    let now = class().unwrap();
    now.class == REALTIME_PRIORITY_CLASS && now.nice == -THREAD_PRIORITY_TIME_CRITICAL
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
