//! If all functions change in the same way, the reason is probably the machine (its clock, other programs), not the code. If the two sides
//! were not measured in turns, a change must be greater than this common one.

use crate::session::Session;
use crate::statistics::median;

/// With fewer functions, a changed function cannot be distinguished from a changed machine.
const LEAST_ROWS: usize = 4;
/// The share of the functions that must move in the same direction.
const ALIKE: f64 = 0.75;
/// The greatest common change that is attributed to the machine. A greater one is attributed to the code.
const MOST: f64 = 0.1;

/// The change of the core clock, as the runs measured it: the absolute value of the logarithm.
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

/// The common part of the functions' shifts, which are logarithms.
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
