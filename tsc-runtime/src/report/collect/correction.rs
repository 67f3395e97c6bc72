//! The visible overhead that is taken out of a callsite's past calls.
//!
//! Overhead is calibrated anew for every report, for the core clock wanders. Each stretch between two reports is corrected by what
//! was calibrated for it and never again, so that what one report says of the past, a later one does not take back: the
//! difference of two reports is what happened between them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::process::per_process::PerProcess;

/// The corrected calls of a callsite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Correction {
    /// Calls or polls.
    pub(super) probes: u64,
    /// Those inside others of the same callsite.
    pub(super) inner: u64,
    /// What they saw of themselves.
    pub(super) visible_milliticks: i64,
    /// What the inner ones did.
    pub(super) inner_visible_milliticks: i64,
}

impl Correction {
    /// Carries the correction on to so many calls in all, the new ones with `visible` ticks each. For fewer than were corrected, by
    /// a report that is older than the last one, their share.
    fn advance(self, probes: u64, inner: u64, visible: f64) -> Self {
        let part = |known: u64, known_milliticks: i64, all: u64| {
            if all < known {
                (known_milliticks as f64 / known as f64 * all as f64).round() as i64
            } else {
                known_milliticks + ((all - known) as f64 * visible * 1000.0).round() as i64
            }
        };
        Self {
            probes,
            inner,
            visible_milliticks: part(self.probes, self.visible_milliticks, probes),
            inner_visible_milliticks: part(self.inner, self.inner_visible_milliticks, inner),
        }
    }
}

/// What is known since calls were last forgotten.
#[derive(Debug, Default)]
struct Corrections {
    /// What [`FORGOTTEN`] was then.
    forgotten: u64,
    by_number: Vec<Correction>,
}

static CORRECTIONS: PerProcess<Mutex<Corrections>> = PerProcess::new();
/// How often all calls were forgotten. No lock, for a signal handler may forget them.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// The correction of callsite `number` when it has so many calls, of which each new one saw `visible` ticks of itself.
pub(super) fn correct(number: usize, probes: u64, inner: u64, visible: f64) -> Correction {
    let mut corrections = CORRECTIONS.get(|| {}).lock();
    let forgotten = FORGOTTEN.load(Relaxed);
    if corrections.forgotten != forgotten {
        corrections.by_number.clear();
        corrections.forgotten = forgotten;
    }
    let by_number = &mut corrections.by_number;
    if by_number.len() <= number {
        by_number.resize(number + 1, Correction::default());
    }
    let known = &mut by_number[number];
    let correction = known.advance(probes, inner, visible);
    if probes >= known.probes && inner >= known.inner {
        *known = correction;
    }
    correction
}

/// All calls were forgotten.
pub(in crate::report) fn forget() {
    FORGOTTEN.fetch_add(1, Relaxed);
}

/// In the child of a fork.
#[cfg(all(unix, not(miri)))] // elsewhere no process is forked
pub(super) fn start_from_zero() {
    CORRECTIONS.forget();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_stays_as_it_was_corrected() {
        let first = Correction::default().advance(1000, 10, 60.0);
        assert_eq!(
            (first.visible_milliticks, first.inner_visible_milliticks),
            (60_000_000, 600_000)
        );
        assert_eq!(first.advance(1000, 10, 70.0), first);
        let second = first.advance(1500, 10, 70.0);
        assert_eq!(
            second.visible_milliticks - first.visible_milliticks,
            500 * 70_000
        );
        assert_eq!(
            second.inner_visible_milliticks,
            first.inner_visible_milliticks
        );
    }

    #[test]
    fn older_report_has_its_share() {
        let known = Correction::default().advance(1000, 0, 60.5);
        assert_eq!(known.advance(500, 0, 99.0).visible_milliticks, 500 * 60_500);
    }
}
