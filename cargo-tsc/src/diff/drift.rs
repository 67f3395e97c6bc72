//! What moves all functions alike is rather the machine than the code: its clock, its neighbours. Where the sides did not take turns, a
//! change has to be greater than that.

use crate::session::Session;
use crate::statistics::median;

/// With fewer functions, one that changed cannot be distinguished from a machine that did.
const LEAST_ROWS: usize = 4;
/// This share of them moves in one direction.
const ALIKE: f64 = 0.75;
/// A machine that was slower than this all the time would be noticed; the code is.
const MOST: f64 = 0.1;

/// The change of the core's clock, as the runs measured it: the size of its logarithm.
pub fn core_clock(before: &Session, after: &Session) -> f64 {
    let rate = |session: &Session| {
        let rates: Vec<f64> = session
            .runs
            .iter()
            .filter_map(|run| run.clock().core_cycles_per_tick())
            .collect();
        median(&rates).filter(|&rate| rate > 0.0)
    };
    match (rate(before), rate(after)) {
        (Some(before), Some(after)) => (after / before).ln().abs(),
        _ => 0.0,
    }
}

/// What the functions' shifts, which are logarithms, have in common.
pub fn common(shifts: &[f64]) -> f64 {
    if shifts.len() < LEAST_ROWS {
        return 0.0;
    }
    let middle = median(shifts).unwrap_or(0.0);
    let alike = shifts
        .iter()
        .filter(|shift| shift.signum() == middle.signum())
        .count();
    if (alike as f64) < ALIKE * shifts.len() as f64 || middle.abs() > MOST {
        return 0.0;
    }
    middle.abs()
}

#[cfg(test)]
mod tests {
    use super::common;

    #[test]
    fn what_all_have_is_common() {
        assert_eq!(common(&[0.03, 0.04, 0.05, 0.03]), 0.035);
    }

    #[test]
    fn one_change_among_many_is_not() {
        assert_eq!(common(&[0.3, -0.001, 0.001, -0.002, 0.0015]), 0.0);
        assert_eq!(common(&[0.03, 0.03, 0.03]), 0.0);
        assert_eq!(common(&[0.5; 8]), 0.0);
    }
}
