//! Platforms on which no clock runs. There, light probes count calls, and their times are unknown.

pub(crate) fn begin() {}

pub(crate) fn note_noticed(_ticks: u64) {}

pub(crate) fn note_given(_ticks: u64) {}

#[cfg(not(test))]
pub(crate) fn is_measurement_due() -> bool {
    false
}

pub(crate) fn unavailable() -> Option<&'static str> {
    // A test makes the ticks itself.
    (!cfg!(test)).then_some("no clock of light probes runs on this platform")
}

#[cfg(not(test))]
pub(crate) fn wake_up_us() -> f64 {
    0.0
}

pub(crate) fn begin_anew() {}

pub(crate) fn so_far() -> [u64; 3] {
    [0; 3]
}
