//! What tests of light probes do to a thread.

use super::*;
use crate::tick_clock::script::follow_own;
use crate::tsc::Ticks;

impl LightThread {
    /// Follows a clock whose ticks the test makes, and the word of a simulated thread, from `now` on. Takes nothing that other threads have
    /// left behind.
    pub(crate) fn simulate(&self, detector: &Detector, now: Ticks) {
        self.leave_words();
        follow_own();
        let word = detector.word().expect("it is attached").cast();
        assert!(self.begin_to_use(word));
        self.checked.set(word);
        self.account.begin_simulated(now);
    }
}

/// A signal handler forks during a calibration.
#[test]
fn rows_that_are_forgotten_meanwhile_are_not_restored() {
    let (own, others) = ([Row::new()], [Row::new()]);
    let light = this();
    light.set_rows(&own);
    light.with_rows(&others, || {});
    assert!(light.has(0));
    light.with_rows(&others, || light.forget_rows());
    assert!(!light.has(0));
}
