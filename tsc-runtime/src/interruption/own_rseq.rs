//! The runtime's own registration, where the C library makes none and offers no way to make one: musl.
//!
//! A thread has one registration or none, so this one is made only where nobody else has one, and the kernel says so. It is taken back
//! when the thread ends, before its thread-local variables go: until then the kernel writes to them. musl never unloads a library,
//! so that they cannot go sooner.

use std::cell::UnsafeCell;
use std::io;

/// The kernel's `struct rseq` in its original size, which all kernels take.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Area {
    cpu_id_start: u32,
    cpu_id: u32,
    rseq_cs: u64,
    flags: u32,
    padding: [u32; 3],
}

const _: () = assert!(size_of::<Area>() == 32 && std::mem::offset_of!(Area, rseq_cs) == 8);

/// In `cpu_id`: not registered.
const UNINITIALIZED: u32 = u32::MAX;
const UNREGISTER: libc::c_int = 1;
/// What the four bytes before an abort handler must be.
const SIGNATURE: u32 = 0x5305_3053;

thread_local! {
    static AREA: UnsafeCell<Area> = const {
        UnsafeCell::new(Area {
            cpu_id_start: 0,
            cpu_id: UNINITIALIZED,
            rseq_cs: 0,
            flags: 0,
            padding: [0; 3],
        })
    };
}

/// Registers this thread, unless it was; its `rseq_cs`. Must be followed by [`unregister`] before the thread ends.
pub(super) fn register() -> Result<*mut u64, &'static str> {
    let area = AREA.with(UnsafeCell::get);
    register_anew(area)?;
    // SAFETY: the area is this thread's, and is only pointed to.
    Ok(unsafe { &raw mut (*area).rseq_cs })
}

/// Why this thread cannot be registered, if so. It is registered afterwards if it was before.
pub(super) fn unavailable() -> Option<&'static str> {
    match register_anew(AREA.with(UnsafeCell::get)) {
        Ok(true) => {
            unregister();
            None
        }
        Ok(false) => None,
        Err(why) => Some(why),
    }
}

/// Whether this thread was not registered already, as it is in the child of a fork.
fn register_anew(area: *mut Area) -> Result<bool, &'static str> {
    let Err(error) = rseq(area, 0) else {
        return Ok(true);
    };
    match error.raw_os_error() {
        Some(libc::EBUSY) => Ok(false),
        Some(libc::EINVAL) => Err("another library has registered rseq for this thread"),
        Some(libc::ENOSYS) => Err("the kernel has no rseq"),
        _ => Err("the kernel, or a sandbox, refuses rseq"),
    }
}

/// Takes this thread's registration back, if it is this one.
pub(super) fn unregister() {
    // Refused where another library's is in place.
    let _: io::Result<()> = rseq(AREA.with(UnsafeCell::get), UNREGISTER);
}

fn rseq(area: *mut Area, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the area is a thread-local variable, which outlives the registration: the thread's end takes it back.
    let result =
        unsafe { libc::syscall(libc::SYS_rseq, area, size_of::<Area>(), flags, SIGNATURE) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
