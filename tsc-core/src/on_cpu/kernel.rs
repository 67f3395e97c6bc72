//! Asks Linux how long this thread has run and waited.
//!
//! This takes two system calls: the thread's CPU clock, which is exact to the nanosecond, and the scheduler's statistics, whose time run
//! lags behind but whose time waited does not. Both may run in a signal handler: nothing here allocates or locks.

use super::reading::Statistics;
use super::schedstat::Schedstat;
use crate::process::cpu_time;
use crate::tsc::{FencePolicy, Lfence, Ticks, Unfenced, elapsed};

const WARM_UP: usize = 3;

/// A thread's access to the kernel's figures.
#[derive(Debug)]
pub(super) struct Kernel {
    schedstat: Schedstat,
    /// The least number of ticks that reading the CPU clock has taken; 0 if it was not read yet.
    width: i64,
}

impl Kernel {
    pub(super) const fn new() -> Self {
        Self {
            schedstat: Schedstat::new(),
            width: 0,
        }
    }

    /// Prepares for this thread: opens the file descriptor that is kept open.
    pub(super) fn attach(&mut self) {
        self.schedstat.open();
        // The first reading takes longer than the others, and any of them may be interrupted.
        for _ in 0..WARM_UP {
            self.read_clock();
        }
    }

    /// Closes the file descriptor.
    pub(super) fn detach(&mut self) {
        self.schedstat.close();
    }

    /// The counter and this thread's CPU clock at the same moment. `None` if the kernel does not answer.
    ///
    /// Reading the clock makes the scheduler check whether the thread's time slice is used up. If it is, the thread is preempted after the
    /// kernel has read the clock and before the call returns. So the moment is taken from the counter before the call, without a second
    /// attempt. If the thread is preempted between the two readings, the next request finds the loss.
    pub(super) fn read_clock(&mut self) -> Option<(Ticks, u64)> {
        let before = Lfence::start();
        let ns = cpu_time::of_thread()?;
        let width = elapsed(before, Lfence::stop());
        if width > 0 && (self.width == 0 || width < self.width) {
            self.width = width;
        }
        Some((before.wrapping_add_signed(self.width / 2), ns))
    }

    /// The scheduler's statistics, when the thread has run for `cpu_ns`.
    pub(super) fn read_statistics(&mut self, cpu_ns: u64) -> Option<Statistics> {
        self.schedstat.read(cpu_ns)
    }
}

/// Some emulated kernels count a thread's time in timer ticks. Runs for some microseconds to check whether the clock advances.
pub(super) fn clock_is_fine() -> Result<(), &'static str> {
    const MOVED: u64 = 50_000;
    const REFUSED: &str = "the kernel does not answer clock_gettime(CLOCK_THREAD_CPUTIME_ID)";
    let before = cpu_time::of_thread().ok_or(REFUSED)?;
    let start = Unfenced::start();
    while Unfenced::start().wrapping_sub(start) < MOVED {
        std::hint::spin_loop();
    }
    let after = cpu_time::of_thread().ok_or(REFUSED)?;
    let moves = (after > before).then_some(());
    moves.ok_or("a thread's CPU clock moves in coarse steps here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_asleep_is_not_run() {
        let mut kernel = Kernel::new();
        kernel.attach();
        let (at_first, ran_first) = kernel.read_clock().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (at, ran) = kernel.read_clock().unwrap();
        // The thread slept, so it cannot have run for half of the time.
        assert!(ran - ran_first < 10_000_000);
        assert!(elapsed(at_first, at) > 0);
        kernel.detach();
    }
}
