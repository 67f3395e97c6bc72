//! Figures that were taken.
//!
//! Only their thread writes the figures of a thread, so taking them does not change them. What was taken is noted beside them, and subtracted
//! whenever they are read.

use tsc_report::__private::Combine;

/// What was taken of some figures.
#[derive(Debug)]
pub(crate) struct Taken<T>(Vec<T>);

impl<T> Default for Taken<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Combine + Clone> Taken<T> {
    /// What was not taken of the figures, which are `now`. With `takes`, it is taken from now on.
    pub(crate) fn rest(&mut self, now: Vec<T>, takes: bool) -> Vec<T> {
        let mut rest = now.clone();
        for (rest, taken) in rest.iter_mut().zip(&self.0) {
            rest.since(taken);
        }
        if takes {
            self.0 = now;
        }
        rest
    }
}
