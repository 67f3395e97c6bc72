//! Several reports, of files that are merged or of one file. Each of them may be of another process, or of another part of a process's run: a
//! program can reset its figures, and report a session of its work.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use tsc_report::Report;

/// Reports of one process, and the files that they are from.
type Parts<'a> = Vec<(&'a Path, Report)>;

/// The sum of reports.
#[derive(Debug, Default)]
pub struct Sum {
    pub report: Report,
    /// How many reports are not in it, because another one contains them.
    pub left_out: usize,
}

/// The sum of reports, each with the file that it is from. A report that another one contains is left out: a process may report everything so
/// far again and again.
///
/// # Errors
/// If reports of one process overlap in time, so that some calls would be counted twice, or if reports cannot be added.
pub fn sum<'a>(reports: impl IntoIterator<Item = (&'a Path, Report)>) -> Result<Sum> {
    let mut processes: BTreeMap<_, Parts<'a>> = BTreeMap::new();
    for (path, report) in reports {
        let identity = identity(&report);
        let file = Some(path).filter(|_| !is_known(&identity));
        let parts = processes.entry((identity, file)).or_default();
        parts.push((path, report));
    }
    let mut sum = Sum::default();
    for parts in processes.into_values() {
        let path = parts[0].0;
        let report = sum.whole(parts)?;
        let merged = sum.report.merge(&report);
        merged.with_context(|| path.display().to_string())?;
    }
    Ok(sum)
}

/// When a process has started, its host, and its number.
type Identity = (String, String, u32);

fn identity(report: &Report) -> Identity {
    let process = report.process();
    let [started, host] = [process.started(), process.host()].map(str::to_owned);
    (started, host, process.pid())
}

/// If the time is not known, two processes may have the same number.
fn is_known((started, ..): &Identity) -> bool {
    !started.is_empty()
}

/// Checks that one of these reports, which are of different runs, is not the sum of others.
///
/// # Errors
/// If it is of several processes, and another one is of one of them.
pub fn check_sum(path: &Path, report: &Report, reports: &[Report]) -> Result<()> {
    if report.processes() <= 1 {
        return Ok(());
    }
    let own = identity(report);
    let same = reports.iter().filter(|other| identity(other) == own);
    if is_known(&own) && same.count() > 1 {
        let path = path.display();
        bail!(
            "{path}: it has calls of a process that are also in another report of this folder: leave it out"
        );
    }
    Ok(())
}

impl Sum {
    /// The sum of the reports of one process.
    fn whole(&mut self, mut parts: Parts<'_>) -> Result<Report> {
        // What contains others comes before them; of equal ones, the latest.
        parts.reverse();
        parts.sort_by_key(|(_, part)| {
            let (begin, end) = part.process().span();
            (begin, Reverse(end))
        });
        let count = parts.len();
        parts.dedup_by(|one, other| one.1 == other.1);
        self.left_out += count - parts.len();
        let is_sum = parts.iter().any(|(_, part)| part.processes() > 1);
        if let [(one, _), (other, _), ..] = parts[..]
            && is_sum
        {
            bail!(
                "{}: it has calls of a process that are also in {}, and one of them is of several processes: leave it out",
                other.display(),
                one.display()
            );
        }
        let mut sum: Option<Report> = None;
        let mut covered = 0;
        for (path, part) in parts {
            let path = path.display();
            let (begin, end) = part.process().span();
            match &mut sum {
                None => sum = Some(part),
                Some(_) if end <= covered => {
                    self.left_out += 1;
                    continue;
                }
                Some(sum) if begin >= covered => {
                    sum.append(&part).with_context(|| path.to_string())?;
                }
                Some(_) => bail!(
                    "{path}: reports of one process overlap in time, and cannot be added: leave out this file, or copy the line of one of them to \
                     another file"
                ),
            }
            covered = end;
        }
        Ok(sum.unwrap_or_default())
    }
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

    fn in_a_file(parts: &[Report]) -> Parts<'static> {
        let parts = parts.iter().cloned();
        parts.map(|part| (Path::new("file"), part)).collect()
    }

    fn sum_of(parts: &[Report]) -> (u64, u64, u64) {
        let sum = sum(in_a_file(parts)).unwrap().report;
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
        let error = sum(in_a_file(&parts)).unwrap_err().to_string();
        assert!(error.contains("overlap"), "{error}");
    }

    #[test]
    fn a_report_of_several_processes_is_not_added_to_one_of_the_same() {
        let started = |pid: u32| {
            let mut json = serde_json::to_value(part(pid, (0, 10), 1)).unwrap();
            json["process"]["started"] = "2026-11-24T23:42:10Z".into();
            Report::from_json(&json.to_string()).unwrap()
        };
        let (one, other) = (started(1), started(2));
        let mut both = one.clone();
        both.merge(&other).unwrap();
        let sum_of = |reports: [&Report; 2]| {
            let paths = ["a", "b"].map(Path::new);
            sum(paths.into_iter().zip(reports.map(Report::clone)))
        };
        for report in [&one, &both] {
            let sum = sum_of([report, report]).unwrap();
            assert_eq!((&sum.report, sum.left_out), (report, 1));
        }
        assert_eq!(sum_of([&one, &other]).unwrap().report, both);
        let error = sum_of([&one, &both]).unwrap_err().to_string();
        assert!(error.contains("is of several processes"), "{error}");
    }

    #[test]
    fn processes_whose_start_is_not_known_may_have_the_same_number() {
        let report = part(0, (0, 10), 1);
        let files = ["a", "b"].map(|name| (Path::new(name), report.clone()));
        assert_eq!(sum(files).unwrap().report.processes(), 2);
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
