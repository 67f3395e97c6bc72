//! How long the clock waits between two ticks.

use std::time::Duration;

/// The mean interval at first.
const FASTEST: Duration = Duration::from_micros(200);
/// The mean interval in a long run.
const SLOWEST: Duration = Duration::from_millis(4);
/// About so many ticks that find functions on the CPU are wanted by any time: 10 000 of them tell a share of 1 % from one of 1.1 %.
const TICKS: u32 = 5000;
/// The clock's thread may use this much CPU time, and this share of the time since it began. A wake-up takes some 5 to 30 µs.
const HEAD_START: Duration = Duration::from_millis(8);
const SHARE: u32 = 50;
/// The mean interval while the process does nothing.
const IDLE: Duration = Duration::from_millis(200);

/// What the clock's thread has done so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoFar {
    /// The time since it began.
    pub(super) elapsed: Duration,
    /// The part of its ticks that gave CPU time to a function. It is small where threads are blocked most of the time.
    pub(super) useful: f64,
    /// Its CPU time when it last asked.
    pub(super) cost: Duration,
    /// How often it had woken up then.
    pub(super) wake_ups: u64,
}

impl SoFar {
    pub(super) const NOTHING: Self = Self {
        elapsed: Duration::ZERO,
        useful: 1.0,
        cost: Duration::ZERO,
        wake_ups: 0,
    };

    /// The CPU time of a wake-up, if it is known.
    pub(super) fn cost_of_wake_up(&self) -> Option<Duration> {
        let ns = (self.cost.as_nanos() as u64).checked_div(self.wake_ups)?;
        (ns != 0).then_some(Duration::from_nanos(ns))
    }
}

/// The mean of the next interval.
pub(super) fn mean(so_far: SoFar) -> Duration {
    let elapsed = so_far.elapsed;
    let useful = (elapsed / TICKS).mul_f64(so_far.useful);
    let wanted = useful.clamp(FASTEST, SLOWEST);
    if so_far.cost <= HEAD_START + elapsed / SHARE {
        return wanted;
    }
    let of_one = so_far.cost_of_wake_up().unwrap_or(so_far.cost);
    wanted.max(of_one * SHARE)
}

/// The mean of the interval after one of `mean` in which the process did nothing.
pub(super) fn slower(mean: Duration) -> Duration {
    (mean * 2).min(IDLE.max(mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(elapsed_ms: u64, cost_us: u64, wake_ups: u64) -> Duration {
        let so_far = SoFar {
            elapsed: Duration::from_millis(elapsed_ms),
            useful: 1.0,
            cost: Duration::from_micros(cost_us),
            wake_ups,
        };
        mean(so_far)
    }

    #[test]
    fn interval_grows_with_the_run() {
        assert_eq!(after(0, 0, 0), FASTEST);
        assert_eq!(after(1_000, 5_000, 5_000), FASTEST);
        assert_eq!(after(10_000, 50_000, 15_000), Duration::from_millis(2));
        assert_eq!(after(60_000, 50_000, 15_000), SLOWEST);
    }

    #[test]
    fn interval_grows_less_where_most_ticks_say_nothing() {
        let after = |elapsed, useful| {
            let elapsed = Duration::from_secs(elapsed);
            let so_far = SoFar {
                elapsed,
                useful,
                ..SoFar::NOTHING
            };
            mean(so_far)
        };
        assert_eq!(after(60, 0.1), Duration::from_micros(1200));
        assert_eq!(after(600, 1e-9), FASTEST);
    }

    #[test]
    fn cost_of_a_wake_up_is_a_mean() {
        let cost = |us, wake_ups| {
            let so_far = SoFar {
                cost: Duration::from_micros(us),
                wake_ups,
                ..SoFar::NOTHING
            };
            so_far.cost_of_wake_up()
        };
        assert_eq!(cost(112, 8), Some(Duration::from_micros(14)));
        assert_eq!([cost(5, 0), cost(0, 8)], [None, None]);
    }

    #[test]
    fn clock_stays_within_its_share() {
        let mut so_far = SoFar::NOTHING;
        while so_far.elapsed < Duration::from_secs(1) {
            so_far.elapsed += mean(so_far);
            so_far.cost += Duration::from_micros(26);
            so_far.wake_ups += 1;
        }
        assert!(so_far.cost <= so_far.elapsed * 29 / 1000, "{so_far:?}");
        assert!(so_far.wake_ups > 1000, "{so_far:?}");
    }

    #[test]
    fn idle_clock_slows_down_to_a_limit() {
        let mut mean = FASTEST;
        for _ in 0..20 {
            mean = slower(mean);
        }
        assert_eq!(mean, IDLE);
        assert_eq!(slower(Duration::from_secs(1)), Duration::from_secs(1));
    }
}
