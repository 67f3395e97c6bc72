//! The remark below the row of a function that was off the CPU.

use crate::{CallsiteReport, Clock};

/// The remark is made if more than this share of the total was off the CPU.
const NOTED_SHARE: f64 = 0.05;

/// `98.7 % blocked, 0.4 % waiting for a CPU; wall time: mean 2.1 ms, p50 2.1, p99 2.6`, if over 5 % were off the CPU.
pub(super) fn off_cpu(callsite: &CallsiteReport, clock: &Clock) -> Option<String> {
    let off = callsite.wall_ticks - callsite.on_cpu_ticks?;
    let share = |ticks: f64| ticks / callsite.wall_ticks * 100.0;
    if callsite.wall_ticks <= 0.0 || off <= NOTED_SHARE * callsite.wall_ticks {
        return None;
    }
    let mut note = match (callsite.blocked_ticks, callsite.waiting_ticks) {
        (Some(blocked), Some(waiting)) => format!(
            "{:.1} % blocked, {:.1} % waiting for a CPU",
            share(blocked),
            share(waiting)
        ),
        _ => format!(
            "{:.1} % off the CPU (blocked or waiting: /proc/thread-self/schedstat cannot be read here, or not on every thread)",
            share(off)
        ),
    };
    if let (Some(mean), Some(p50), Some(p99)) = (
        callsite.wall_mean_ticks,
        callsite.wall_p50_ticks,
        callsite.wall_p99_ticks,
    ) {
        let unit = Unit::of(mean, clock);
        note += &format!(
            "; wall time: mean {} {}, p50 {}, p99 {}",
            unit.digits(mean),
            unit.name,
            unit.digits(p50),
            unit.digits(p99)
        );
    }
    Some(note)
}

/// The unit of the wall times.
struct Unit {
    name: &'static str,
    ticks: f64,
}

impl Unit {
    /// The largest unit that is no longer than `ticks`; ticks themselves if their rate is unknown.
    fn of(ticks: f64, clock: &Clock) -> Self {
        let Some(hz) = clock.hz else {
            return Self {
                name: "ticks",
                ticks: 1.0,
            };
        };
        [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)]
            .into_iter()
            .map(|(name, seconds)| Self {
                name,
                ticks: hz * seconds,
            })
            .find(|unit| ticks >= unit.ticks)
            .unwrap_or(Self {
                name: "ns",
                ticks: hz * 1e-9,
            })
    }

    fn digits(&self, ticks: f64) -> String {
        let digits = usize::from(self.name != "ticks" && self.name != "ns");
        format!("{:.digits$}", ticks / self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallsiteSums;
    use crate::data::histogram::tests::histogram;

    fn note(hz: Option<f64>, change: impl FnOnce(&mut CallsiteSums)) -> Option<String> {
        let clock = Clock {
            hz,
            ..Clock::default()
        };
        let mut callsite = CallsiteReport {
            wall_histogram: histogram([2_000_000; 100]),
            sums: CallsiteSums {
                excluded: 100,
                excluded_sum: 199_000_000,
                calls_blocked: 198_000_000,
                calls_waiting: 1_000_000,
                wall_max: Some(2_010_000),
                off: 199_000_000,
                waiting: 1_000_000,
                ..CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        change(&mut callsite.sums);
        callsite.derive(&clock);
        off_cpu(&callsite, &clock)
    }

    #[test]
    fn row_says_how_much_was_blocked_and_waiting() {
        assert_eq!(
            note(Some(1e9), |_| {}).unwrap(),
            "99.0 % blocked, 0.5 % waiting for a CPU; wall time: mean 2.0 ms, p50 2.0, p99 2.0"
        );
        let ticks = note(None, |_| {}).unwrap();
        assert!(ticks.contains("wall time: mean 2000000 ticks"), "{ticks}");
        let unsplit = note(Some(1e9), |sums| sums.unsplit = 1).unwrap();
        assert!(unsplit.starts_with("99.5 % off the CPU (blocked or waiting:"));
    }

    #[test]
    fn row_that_was_on_the_cpu_says_nothing() {
        assert_eq!(note(Some(1e9), |sums| sums.off = 40_000), None);
        // The kernel was not asked, so the time off the CPU is unknown.
        assert_eq!(note(Some(1e9), |sums| sums.unasked = 1), None);
    }
}
