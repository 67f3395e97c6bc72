//! The scheduler's statistics of this thread, from `/proc/thread-self/schedstat`, whose file descriptor is kept open.
//!
//! The CPU time in what was read must match this thread's; otherwise the program has closed the descriptor, and it is given up. Reading at
//! a position neither takes anything from a file nor waits.

use super::reading::Statistics;
use crate::process::{NotCancelled, OwnDescriptor, cpu_time};

/// The largest difference between the time run in the statistics and the CPU clock, which was read just before and has updated the
/// statistics, if nothing has come between them.
const LAG_NS: u64 = 1_000_000;

#[derive(Debug)]
pub(super) struct Schedstat {
    /// `None` if there are no statistics, or if the process has no descriptor to spare.
    descriptor: Option<OwnDescriptor>,
    /// The statistics that were read last. They only grow.
    last: Statistics,
}

impl Schedstat {
    pub(super) const fn new() -> Self {
        Self {
            descriptor: None,
            last: Statistics {
                ran_ns: 0,
                waited_ns: 0,
                runs: 0,
            },
        }
    }

    /// Opens the calling thread's statistics.
    pub(super) fn open(&mut self) {
        self.close();
        *self = Self::new();
        self.descriptor = OwnDescriptor::keep(open());
    }

    /// Closes the descriptor, if it still belongs to this module.
    pub(super) fn close(&mut self) {
        if let Some(descriptor) = self.descriptor.take() {
            descriptor.close();
        }
    }

    /// The statistics of a thread that has run for `cpu_ns`.
    pub(super) fn read(&mut self, cpu_ns: u64) -> Option<Statistics> {
        self.descriptor.as_ref()?;
        let _not_cancelled = NotCancelled::begin();
        let found = self.read_own(cpu_ns).or_else(|| {
            // The program has closed the descriptor, and may have opened another file in its place.
            let last = self.last;
            self.open();
            self.last = last;
            self.read_own(cpu_ns)
        });
        if found.is_none() {
            self.close();
        }
        found
    }

    fn read_own(&mut self, cpu_ns: u64) -> Option<Statistics> {
        let descriptor = self.descriptor.as_ref()?.unproven;
        let mut text = [0_u8; 72];
        // SAFETY: the buffer has the given length.
        let length = unsafe { libc::pread(descriptor, text.as_mut_ptr().cast(), text.len(), 0) };
        let found = parse(text.get(..usize::try_from(length).ok()?)?)?;
        let is_at_most = |cpu_ns| found.ran_ns <= cpu_ns + LAG_NS;
        // Interrupts or a hypervisor may have taken the CPU in between for any time, and the kernel may count that as the thread's.
        let is_own = cpu_ns <= found.ran_ns + LAG_NS
            && (is_at_most(cpu_ns) || cpu_time::of_thread().is_some_and(is_at_most))
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
    let mut numbers = text.split(' ');
    let mut next = || numbers.next()?.parse().ok();
    let found = Statistics {
        ran_ns: next()?,
        waited_ns: next()?,
        runs: next()?,
    };
    (found.runs != 0 && numbers.next().is_none()).then_some(found)
}

fn open() -> libc::c_int {
    let path = c"/proc/thread-self/schedstat".as_ptr();
    // SAFETY: a C string.
    unsafe { libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::cpu_time::of_thread;

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
        assert_eq!(schedstat.read(of_thread().unwrap()), None);
        schedstat.open();
        let Some(first) = schedstat.read(of_thread().unwrap()) else {
            eprintln!("skipped: no /proc/thread-self/schedstat");
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(1));
        let second = schedstat.read(of_thread().unwrap()).unwrap();
        assert!(second.runs > first.runs && second.ran_ns > first.ran_ns);
        schedstat.close();
        assert_eq!(schedstat.read(of_thread().unwrap()), None);
    }

    #[test]
    fn thread_may_have_run_on_since_its_clock_was_read() {
        let mut schedstat = Schedstat::new();
        schedstat.open();
        let before = of_thread().unwrap();
        if schedstat.read(before).is_none() {
            eprintln!("skipped: no /proc/thread-self/schedstat");
            return;
        }
        while of_thread().unwrap() < before + 5 * LAG_NS {}
        assert!(schedstat.read(before).unwrap().ran_ns > before + LAG_NS);
        schedstat.close();
    }

    #[test]
    fn statistics_are_opened_again_if_the_program_has_taken_the_descriptor() {
        use std::os::fd::AsRawFd;
        let mut schedstat = Schedstat::new();
        schedstat.open();
        let Some(taken) = schedstat.descriptor.as_ref().map(|own| own.unproven) else {
            eprintln!("skipped: no /proc/thread-self/schedstat");
            return;
        };
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        // SAFETY: the descriptor belongs to this test. It now refers to another file, as after a program has closed it.
        assert_eq!(unsafe { libc::dup2(file.as_raw_fd(), taken) }, taken);
        assert!(schedstat.read(of_thread().unwrap()).is_some());
        assert_ne!(schedstat.descriptor.as_ref().unwrap().unproven, taken);
        schedstat.close();
        // SAFETY: the descriptor belongs to this test.
        assert_eq!(unsafe { libc::close(taken) }, 0);
    }
}
