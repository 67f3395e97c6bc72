//! A report between two measurements of what is true.
//!
//! What else runs on the host makes everything slower for seconds or minutes. So the truth is measured before the report's run and after it,
//! and of some attempts the one counts in which the two differ least: then the machine was most likely the same in all three.

use std::io;

use crate::report::Report;

const ATTEMPTS: usize = 4;

/// A report, and what was measured before it and after it. `size` of that is compared.
pub(crate) fn measure<T: Clone>(
    truth: impl Fn() -> io::Result<T>,
    report: impl Fn() -> io::Result<Report>,
    size: impl Fn(&T) -> f64,
) -> io::Result<(Report, [T; 2])> {
    let attempt = |before: T| {
        let report = report()?;
        let after = truth()?;
        let differ = (size(&before) / size(&after)).ln().abs();
        Ok::<_, io::Error>((differ, report, [before, after]))
    };
    let mut best = attempt(truth()?)?;
    let mut before = best.2[1].clone();
    for _ in 1..ATTEMPTS {
        let next = attempt(before)?;
        before = next.2[1].clone();
        if next.0 < best.0 {
            best = next;
        }
    }
    Ok((best.1, best.2))
}
