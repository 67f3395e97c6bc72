//! Keeps the C library's `errno`, which the annotated function may just have set for the program.

/// Gives `errno` the value back that it had before, when this is dropped.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) struct Errno(libc::c_int);

#[cfg(all(target_os = "linux", not(miri)))]
impl Errno {
    pub(crate) fn save() -> Self {
        // SAFETY: the address is this thread's errno.
        Self(unsafe { *libc::__errno_location() })
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: the address is this thread's errno.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

/// Elsewhere, it is not kept.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) struct Errno;

#[cfg(not(all(target_os = "linux", not(miri))))]
impl Errno {
    pub(crate) fn save() -> Self {
        Self
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use std::alloc::Layout;

    use super::*;
    use crate::process::memory;

    fn kept_by(call: impl FnOnce()) {
        // SAFETY: the address is this thread's errno.
        unsafe { *libc::__errno_location() = 77 };
        call();
        // SAFETY: the address is this thread's errno.
        assert_eq!(unsafe { *libc::__errno_location() }, 77);
    }

    #[test]
    fn errno_is_kept() {
        kept_by(|| {
            let _errno = Errno::save();
            // SAFETY: the call fails, and sets errno.
            assert_eq!(unsafe { libc::close(-1) }, -1);
        });
    }

    #[test]
    fn memory_that_is_not_there_leaves_errno_as_it_is() {
        let layout = Layout::from_size_align(isize::MAX as usize, 1).expect("it is one");
        // SAFETY: the layout has a size.
        kept_by(|| assert!(unsafe { memory::map(layout) }.is_none()));
    }
}
