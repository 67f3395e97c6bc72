//! The figures of both sides of a comparison.

use std::collections::BTreeMap;

use super::pairs::Runs;
use super::values::Values;

/// The name of the row of the program's time. What changes all functions alike is seen in none of them, because each is compared with the rest.
pub const WHOLE: &str = "(the whole program)";

/// The figures of both sides.
pub struct Sides {
    /// The figures before and after, by function.
    pub values: [BTreeMap<String, Values>; 2],
    /// How these were measured.
    pub runs: [Runs; 2],
    /// Whether the two sides were measured in turns, by one call of `ab`.
    pub interleaved: bool,
    /// Functions that take fewer ticks in a run are not judged.
    pub short: f64,
    /// Whether the metric is that of one call, however many there are.
    pub is_per_call: bool,
}

impl Sides {
    /// Adds a row for the whole program.
    pub fn add_whole(&mut self) {
        for (values, runs) in self.values.iter_mut().zip(&self.runs) {
            let whole = Values {
                runs: runs.whole.clone(),
                own: runs.whole.clone(),
                calls: 1.0,
                share: 1.0,
                ..Values::default()
            };
            values.insert(WHOLE.to_owned(), whole);
        }
    }
}
