//! A file descriptor that this library keeps open in somebody else's process.
//!
//! A program may close descriptors that it does not know, as daemons do, and open other files under the same numbers. So a descriptor
//! belongs to this library only as long as the file behind it is the one that was opened. It is not closed without this proof, and not read
//! without it unless what is read proves it and reading changes nothing. A descriptor that has changed hands is left to the program.
//!
//! Descriptors are few, and most are the program's: see [`is_spare`].

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{FileIdentity, written};

/// Descriptors up to this one are those that programs expect for their standard streams.
const STANDARD_STREAMS: libc::c_int = 2;

/// All descriptors of this library take at most this part of those that the process may have.
const PART: u64 = 8;

/// The number of descriptors that are kept. The child of a fork has those of its parent's threads, too.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// It has no destructor, because threads have one until their very end: whoever keeps it must [`close`](Self::close) it.
#[derive(Debug)]
#[must_use = "it stays open"]
pub(crate) struct OwnDescriptor {
    /// The number, whatever file is behind it by now.
    pub(crate) unproven: libc::c_int,
    file: FileIdentity,
    /// The ID of a perf event. All perf events have the same inode.
    event: Option<u64>,
}

impl OwnDescriptor {
    /// Takes over a descriptor that was just opened. It is closed if the program should have it.
    pub(crate) fn keep(opened: libc::c_int) -> Option<Self> {
        let number = beyond_standard_streams(opened);
        let Some(file) = FileIdentity::of(number) else {
            // SAFETY: it was just opened, or is no descriptor.
            unsafe { libc::close(number) };
            return None;
        };
        let event = event_id(number);
        let kept = KEPT.fetch_add(1, Relaxed);
        let descriptor = Self {
            unproven: number,
            file,
            event,
        };
        if is_spare(number, kept) {
            return Some(descriptor);
        }
        descriptor.close();
        None
    }

    /// Closes the descriptor, if it still belongs to this library.
    pub(crate) fn close(self) {
        KEPT.fetch_sub(1, Relaxed);
        if let Some(number) = self.proven() {
            // SAFETY: it was opened here, and is still the same file.
            unsafe { libc::close(number) };
        }
    }

    /// The number, if the file behind it is the one that was opened. This may be called in a signal handler.
    pub(crate) fn proven(&self) -> Option<libc::c_int> {
        let is_same = FileIdentity::of(self.unproven)? == self.file
            && (self.event.is_none() || event_id(self.unproven) == self.event);
        is_same.then_some(self.unproven)
    }
}

/// Gives a descriptor that has the number of a standard stream another number.
fn beyond_standard_streams(descriptor: libc::c_int) -> libc::c_int {
    if !(0..=STANDARD_STREAMS).contains(&descriptor) {
        return descriptor;
    }
    // SAFETY: numbers, and a descriptor that was just opened.
    unsafe {
        let higher = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, STANDARD_STREAMS + 1);
        libc::close(descriptor);
        higher
    }
}

/// Whether this library may keep one more descriptor: it has less than an eighth of those that the process may have, and over half of these
/// are still free. The number tells the latter, because the kernel hands out the lowest one.
#[allow(clippy::useless_conversion)] // a limit does not have 64 bits on all systems
fn is_spare(number: libc::c_int, kept: u64) -> bool {
    // SAFETY: it writes one rlimit to the given address, if it returns 0.
    let limit = unsafe { written(|limit| libc::getrlimit(libc::RLIMIT_NOFILE, limit)) };
    let limit = limit.map_or(0, |limit: libc::rlimit| u64::from(limit.rlim_cur));
    kept < limit / PART && u64::from(number.cast_unsigned()) < limit / 2
}

/// The number by which the kernel tells perf events apart. `None` if the file is no perf event.
fn event_id(descriptor: libc::c_int) -> Option<u64> {
    if cfg!(not(feature = "pmu")) {
        return None;
    }
    let mut id = 0_u64;
    // SAFETY: of all files, only perf events know this request, and they write one number to the given address.
    let failed = unsafe {
        let request = libc::_IOR::<*mut u64>(u32::from(b'$'), 7);
        libc::ioctl(descriptor, request, &raw mut id)
    };
    (failed == 0).then_some(id)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{AsRawFd as _, IntoRawFd as _};

    use super::*;

    fn open(path: &str) -> libc::c_int {
        File::open(path).unwrap().into_raw_fd()
    }

    #[test]
    fn descriptor_that_the_program_has_taken_is_left_to_it() {
        let own = OwnDescriptor::keep(open("/proc/self/stat")).unwrap();
        let number = own.proven().unwrap();
        let file = File::open("/proc/self/exe").unwrap();
        // SAFETY: the descriptor belongs to this test. It now refers to another file, as after a program has closed it.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), number) }, number);
        assert_eq!(own.proven(), None);
        own.close();
        assert_eq!(FileIdentity::of(number), FileIdentity::of(file.as_raw_fd()));
        // SAFETY: the descriptor belongs to this test.
        unsafe { libc::close(number) };
    }

    #[test]
    #[allow(clippy::useless_conversion)] // as above
    fn most_descriptors_are_the_program_s() {
        // SAFETY: it writes one rlimit to the given address, if it returns 0.
        let limit = unsafe { written(|limit| libc::getrlimit(libc::RLIMIT_NOFILE, limit)) };
        let limit: libc::rlimit = limit.unwrap();
        let limit = u64::from(limit.rlim_cur);
        assert!(is_spare(3, limit / PART - 1));
        assert!(!is_spare(3, limit / PART));
        assert!(!is_spare((limit / 2) as libc::c_int, 0));
    }
}
