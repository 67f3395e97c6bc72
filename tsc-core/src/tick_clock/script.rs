//! Clocks of tests, which make the ticks themselves.

use std::cell::Cell;

use super::{EPOCH, Epoch};
use crate::sync::thread_local;

thread_local! {
    static MEASUREMENT_DUE: Cell<bool> = const { Cell::new(false) };
}

thread_local! {
    static FOLLOWED: Cell<Option<&'static Epoch>> = const { Cell::new(None) };
}

/// The one that this thread follows.
pub(crate) fn epoch() -> &'static Epoch {
    FOLLOWED.with(Cell::get).unwrap_or(&EPOCH)
}

/// Whether the test wants this thread to measure what a light call costs.
pub(crate) fn is_measurement_due() -> bool {
    MEASUREMENT_DUE.with(Cell::take)
}

#[cfg(not(shuttle))]
pub(crate) fn make_measurement_due() {
    MEASUREMENT_DUE.with(|due| due.set(true));
}

/// What the clock's thread takes to wake up, on the simulated machine.
pub(crate) const fn wake_up_us() -> f64 {
    25.0
}

/// Makes this thread follow a clock of its own.
#[cfg(not(shuttle))]
pub(crate) fn follow_own() {
    FOLLOWED.with(|followed| followed.set(Some(Box::leak(Box::new(Epoch::new())))));
}
