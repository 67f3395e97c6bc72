//! The scheduler's statistics of this thread, from `/proc/thread-self/schedstat`, whose file descriptor is kept open.
//!
//! A program may close descriptors that it does not know, as daemons do, and open other files under the same numbers. So the CPU time in
//! what was read must match this thread's; otherwise the descriptor is given up, and not closed, because it belongs to the program. Before
//! it is closed, the identity of the file is checked.

use std::mem::MaybeUninit;

use super::reading::Statistics;

/// No descriptor.
const NONE: libc::c_int = -1;

/// The largest difference between the time run in the statistics and the CPU clock, which was read just before and has updated the
/// statistics.
const LAG_NS: u64 = 1_000_000;

/// Descriptors up to this one are those that programs expect for their standard streams.
const STANDARD_STREAMS: libc::c_int = 2;

#[derive(Debug)]
pub(super) struct Schedstat {
    descriptor: libc::c_int,
    file: Option<Identity>,
    /// The statistics that were read last. They only grow.
    last: Statistics,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The descriptor is kept.
    Kept,
    /// The program has few descriptors left, so each reading opens and closes one.
    Sparing,
    /// There are no statistics.
    Refused,
}

/// The identity of a file according to `fstat`, which distinguishes it from all others that are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: libc::dev_t,
    inode: libc::ino_t,
}

impl Schedstat {
    pub(super) const fn new() -> Self {
        Self {
            descriptor: NONE,
            file: None,
            last: Statistics {
                ran_ns: 0,
                waited_ns: 0,
                runs: 0,
            },
            state: State::Refused,
        }
    }

    /// Opens the calling thread's statistics.
    pub(super) fn open(&mut self) {
        *self = Self::new();
        self.descriptor = open();
        if self.descriptor == NONE {
            return;
        }
        self.file = Identity::of(self.descriptor);
        self.state = if is_among_the_first_half(self.descriptor) {
            State::Kept
        } else {
            State::Sparing
        };
        if self.state == State::Sparing {
            self.close_descriptor();
        }
    }

    /// Closes the descriptor, if it still belongs to this module.
    pub(super) fn close(&mut self) {
        self.close_descriptor();
        self.state = State::Refused;
    }

    fn close_descriptor(&mut self) {
        let descriptor = std::mem::replace(&mut self.descriptor, NONE);
        if descriptor != NONE && self.file.is_some() && Identity::of(descriptor) == self.file {
            // SAFETY: it was opened here, and is still the same file.
            unsafe { libc::close(descriptor) };
        }
    }

    /// The statistics of a thread that has run for `cpu_ns`.
    pub(super) fn read(&mut self, cpu_ns: u64) -> Option<Statistics> {
        match self.state {
            State::Refused => return None,
            State::Kept => {
                if let Some(found) = self.read_own(cpu_ns) {
                    return Some(found);
                }
                // The program has closed the descriptor, and may have opened another file in its place.
                let last = self.last;
                self.close_descriptor();
                self.open();
                self.last = last;
                if self.state == State::Kept {
                    let found = self.read_own(cpu_ns);
                    if found.is_none() {
                        self.close();
                    }
                    return found;
                }
            }
            State::Sparing => {}
        }
        self.descriptor = open();
        self.file = Identity::of(self.descriptor);
        let found = self.read_own(cpu_ns);
        self.close_descriptor();
        found
    }

    fn read_own(&mut self, cpu_ns: u64) -> Option<Statistics> {
        let mut text = [0_u8; 72];
        // SAFETY: the buffer has the given length.
        let length =
            unsafe { libc::pread(self.descriptor, text.as_mut_ptr().cast(), text.len(), 0) };
        let found = parse(text.get(..usize::try_from(length).ok()?)?)?;
        let is_own = cpu_ns.abs_diff(found.ran_ns) <= LAG_NS
            && found.ran_ns >= self.last.ran_ns
            && found.waited_ns >= self.last.waited_ns
            && found.runs >= self.last.runs;
        if !is_own {
            return None;
        }
        self.last = found;
        Some(found)
    }
}

/// Parses three numbers and the end of the line. All are 0 if the kernel keeps no statistics.
fn parse(text: &[u8]) -> Option<Statistics> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('\n')?;
    let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
    let (Some(Some(ran_ns)), Some(Some(waited_ns)), Some(Some(runs)), None) = (
        numbers.next(),
        numbers.next(),
        numbers.next(),
        numbers.next(),
    ) else {
        return None;
    };
    (runs != 0).then_some(Statistics {
        ran_ns,
        waited_ns,
        runs,
    })
}

fn open() -> libc::c_int {
    let path = c"/proc/thread-self/schedstat".as_ptr();
    // SAFETY: a C string.
    let descriptor = unsafe { libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC) };
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

/// Whether the descriptor's number is so low that over half of the descriptors the process may have are still free, because the kernel
/// hands out the lowest number.
fn is_among_the_first_half(descriptor: libc::c_int) -> bool {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: it writes one rlimit to the given address, if it returns 0.
    let limit = unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()) != 0 {
            return false;
        }
        limit.assume_init()
    };
    (descriptor as libc::rlim_t) < limit.rlim_cur / 2
}

impl Identity {
    fn of(descriptor: libc::c_int) -> Option<Self> {
        let mut status = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: it writes one stat to the given address, if it returns 0.
        let status = unsafe {
            if libc::fstat(descriptor, status.as_mut_ptr()) != 0 {
                return None;
            }
            status.assume_init()
        };
        Some(Self {
            device: status.st_dev,
            inode: status.st_ino,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu_ns() -> u64 {
        let mut time = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: the call writes one timespec to the given address.
        let time = unsafe {
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr());
            time.assume_init()
        };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    #[test]
    fn only_three_numbers_are_statistics() {
        assert_eq!(
            parse(b"12 34 5\n"),
            Some(Statistics {
                ran_ns: 12,
                waited_ns: 34,
                runs: 5
            })
        );
        for other in [
            &b"12 34\n"[..],
            b"12 34 5",
            b"12 34 5 6\n",
            b"0 0 0\n",
            b"-1 3 4\n",
            b"",
            b"\xff\n",
        ] {
            assert_eq!(parse(other), None);
        }
    }

    #[test]
    fn statistics_grow() {
        let mut schedstat = Schedstat::new();
        assert_eq!(schedstat.read(cpu_ns()), None);
        schedstat.open();
        let Some(first) = schedstat.read(cpu_ns()) else {
            eprintln!("skipped: no /proc/thread-self/schedstat");
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(1));
        let second = schedstat.read(cpu_ns()).unwrap();
        assert!(second.runs > first.runs && second.ran_ns > first.ran_ns);
        schedstat.close();
        assert_eq!(schedstat.read(cpu_ns()), None);
    }

    #[test]
    fn descriptor_that_the_program_has_taken_is_left_to_it() {
        use std::os::fd::AsRawFd;
        let mut schedstat = Schedstat::new();
        schedstat.open();
        if schedstat.state != State::Kept {
            eprintln!("skipped: no /proc/thread-self/schedstat");
            return;
        }
        let taken = schedstat.descriptor;
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        // SAFETY: the descriptor belongs to this test. It now refers to another file, as after a program has closed it.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), taken) }, taken);
        // It is replaced by another one, and stays open.
        assert!(schedstat.read(cpu_ns()).is_some());
        assert_ne!(schedstat.descriptor, taken);
        let program = Identity::of(file.as_raw_fd());
        assert_eq!(Identity::of(taken), program);
        let own = schedstat.descriptor;
        schedstat.close();
        assert_ne!(Identity::of(own), schedstat.file);
        // Nor does closing close a file that is not ours.
        schedstat.open();
        let own = schedstat.descriptor;
        // SAFETY: both descriptors belong to this test.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), own) }, own);
        schedstat.close();
        assert_eq!(Identity::of(own), program);
        // SAFETY: both descriptors belong to this test.
        unsafe {
            libc::close(own);
            libc::close(taken);
        }
    }

    #[test]
    fn process_with_few_descriptors_left_keeps_none() {
        let mut schedstat = Schedstat::new();
        schedstat.open();
        if schedstat.state != State::Kept {
            eprintln!("skipped: no /proc/thread-self/schedstat");
            return;
        }
        schedstat.close();
        schedstat.state = State::Sparing;
        assert!(schedstat.read(cpu_ns()).is_some());
        assert_eq!(schedstat.descriptor, NONE);
    }
}
