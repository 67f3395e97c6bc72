//! Figures that were taken.
//!
//! Only their thread writes the figures of a thread, so taking them does not change them. What was taken is noted beside them, and subtracted
//! whenever they are read.

use tsc_report::__private::Combine;

/// What of the figures, which are `now`, is not in `taken`. With `takes`, it is from now on.
pub(crate) fn rest<T: Combine + Clone>(mut now: Vec<T>, taken: &mut Vec<T>, takes: bool) -> Vec<T> {
    let all = takes.then(|| now.clone());
    for (now, taken) in now.iter_mut().zip(&*taken) {
        now.since(taken);
    }
    if let Some(all) = all {
        *taken = all;
    }
    now
}
