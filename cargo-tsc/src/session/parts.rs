//! A file with several reports. Each of them may be of another process, or of another part of a process's run: a program can reset its
//! figures, and report a session of its work.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use tsc_report::Report;

/// The sum of the reports in a file, as of one run. A report that another one contains is left out: a process may report everything so far
/// again and again.
///
/// # Errors
/// If reports of one process overlap in time, so that some calls would be counted twice, or if reports cannot be added.
pub fn sum(reports: Vec<Report>) -> Result<Report> {
    let mut processes: BTreeMap<_, Vec<Report>> = BTreeMap::new();
    for report in reports {
        let process = report.process();
        let identity = (
            process.started().to_owned(),
            process.host().to_owned(),
            process.pid(),
        );
        processes.entry(identity).or_default().push(report);
    }
    let mut sum = Report::default();
    for parts in processes.into_values() {
        sum.merge(&whole(parts)?)?;
    }
    Ok(sum)
}

/// The sum of the reports of one process.
fn whole(mut parts: Vec<Report>) -> Result<Report> {
    // What contains others comes before them; of equal ones, the latest.
    parts.reverse();
    parts.sort_by_key(|part| {
        let (begin, end) = part.process().span();
        (begin, std::cmp::Reverse(end))
    });
    let mut sum: Option<Report> = None;
    let mut covered = 0;
    for part in parts {
        let (begin, end) = part.process().span();
        match &mut sum {
            None => sum = Some(part),
            Some(_) if end <= covered => continue,
            Some(sum) if begin >= covered => sum.append(&part)?,
            Some(_) => bail!(
                "it contains reports of sessions that overlap in time, which cannot be added: copy the line of one of them to another file"
            ),
        }
        covered = end;
    }
    Ok(sum.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of `calls` calls in this span of time.
    fn part(pid: u32, (begin, end): (u64, u64), calls: u64) -> Report {
        let mut json = serde_json::to_value(Report::default()).unwrap();
        json["clock"]["source"] = "TSC".into();
        json["process"]["pid"] = pid.into();
        json["process"]["since_ns"] = (begin != 0).then_some(begin).into();
        json["process"]["duration_ns"] = (end - begin).into();
        json["processes"] = 1.into();
        json["unrecorded_calls"] = calls.into();
        Report::from_json(&json.to_string()).unwrap()
    }

    fn sum_of(parts: &[Report]) -> (u64, u64, u64) {
        let sum = sum(parts.to_vec()).unwrap();
        let span = sum.process().span();
        assert_eq!(span.0, 0);
        (sum.unrecorded_calls(), sum.processes(), span.1)
    }

    #[test]
    fn what_follows_a_reset_is_added() {
        let (one, two) = (part(1, (0, 50), 100), part(1, (60, 90), 10));
        assert_eq!(sum_of(&[one.clone(), two.clone()]), (110, 1, 90));
        assert_eq!(sum_of(&[two, one]), (110, 1, 90));
    }

    #[test]
    fn what_another_report_contains_is_not() {
        let so_far = [10, 20, 30].map(|end| part(1, (0, end), end));
        assert_eq!(sum_of(&so_far), (30, 1, 30));
        let nested = [(10, 20), (5, 25), (0, 40), (12, 14), (40, 50)];
        let nested = nested.map(|(begin, end)| part(1, (begin, end), end - begin));
        assert_eq!(sum_of(&nested), (50, 1, 50));
        let again = [part(1, (0, 10), 3), part(1, (0, 10), 4)];
        assert_eq!(sum_of(&again), (4, 1, 10));
    }

    #[test]
    fn what_overlaps_is_an_error() {
        let parts = vec![part(1, (0, 20), 1), part(1, (10, 30), 1)];
        let error = sum(parts).unwrap_err().to_string();
        assert!(error.contains("overlap"), "{error}");
    }

    #[test]
    fn other_processes_are_added() {
        let parts = [
            part(1, (0, 20), 1),
            part(2, (0, 30), 2),
            part(1, (20, 40), 4),
        ];
        assert_eq!(sum_of(&parts).0, 7);
        assert_eq!(sum_of(&parts).1, 2);
    }
}
