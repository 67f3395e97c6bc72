//! A function that is called at the end of a thread even where thread-local values are not dropped any more.
//!
//! At the end of a thread, glibc drops the thread-local values, and then calls the destructors of pthread keys. A value that is first used in such
//! a destructor is never dropped, and its memory is unmapped with the thread's stack. A key that is set there is still served: glibc goes
//! through the keys again, up to four times in all. Other C libraries have no list of thread-local values: std drops these by a key of its own.

use std::ffi::c_void;

/// Calls `end` when this thread ends, after its thread-local values were dropped, if it was still possible to drop them. The whole process gives
/// the same function, whose code must stay mapped. Without a free key, nothing is called.
pub(crate) fn call_at_very_end(end: extern "C" fn(*mut c_void)) {
    let _ = end;
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri), not(shuttle)))]
    {
        use std::ptr;
        use std::sync::atomic::AtomicU64;
        use std::sync::atomic::Ordering::{AcqRel, Acquire};

        const NONE: u64 = u64::MAX;
        /// Nobody waits for whoever makes the key, because in the child of a fork that thread may not exist.
        static KEY: AtomicU64 = AtomicU64::new(NONE);

        if KEY.load(Acquire) == NONE {
            // SAFETY: the call writes a key if it succeeds. `end` may be called with any pointer, and the caller keeps its code mapped.
            let made = unsafe { super::written(|key| libc::pthread_key_create(key, Some(end))) };
            let Some(made) = made else {
                return;
            };
            let exchanged = KEY.compare_exchange(NONE, u64::from(made), AcqRel, Acquire);
            if exchanged.is_err() {
                // SAFETY: the key was made just now, and nobody else knows it.
                unsafe { libc::pthread_key_delete(made) };
            }
        }
        let key = KEY.load(Acquire) as libc::pthread_key_t;
        // A destructor is called where the value is not null.
        // SAFETY: the key exists, and its value is not used as a pointer.
        unsafe { libc::pthread_setspecific(key, ptr::from_ref(&KEY).cast()) };
    }
}
