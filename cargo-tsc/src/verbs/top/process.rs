//! Finds out from a process's environment where it writes its reports.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::progress::shown;

/// How to start a program so that it can be watched.
const HOW: &str =
    "start it with TSC_REPORT=json TSC_REPORT_FILE=/tmp/tsc-%p.json TSC_REPORT_EVERY=1s";

/// The file to which the process writes.
///
/// # Errors
/// If there is no such process, or if it makes no reports at intervals.
pub fn report_file(pid: u32) -> Result<PathBuf> {
    let file = file_in(&environment(pid)?, pid)?;
    let folder = std::fs::read_link(format!("/proc/{pid}/cwd"));
    let file = folder.map_or(file.clone(), |folder| folder.join(&file));
    let file = latest(&file).unwrap_or(file);
    if !file.exists() {
        bail!(
            "{}: process {pid} has not written a report yet; try again in a moment, or build it so that it measures: `cargo tsc run` does",
            shown(&file)
        );
    }
    Ok(file)
}

/// The file to which a process with this environment writes reports at intervals.
fn file_in(environment: &[String], pid: u32) -> Result<PathBuf> {
    let value = |name: &str| {
        let mut values = environment
            .iter()
            .filter_map(|entry| entry.strip_prefix(name)?.strip_prefix('='));
        values.rfind(|value| !value.is_empty())
    };
    let Some(file) = value("TSC_REPORT_FILE") else {
        bail!("process {pid} reports to no file: {HOW}");
    };
    // A file's name says the form, unless a variable does.
    let named = Path::new(file).extension().is_some_and(|it| it == "json");
    let is_json = value("TSC_REPORT").map_or(named, |form| form == "json");
    if value("TSC_REPORT_EVERY").is_none() || !is_json {
        bail!("process {pid} makes no reports as JSON from time to time: {HOW}");
    }
    if let Some(other) = ["%h", "%%"].iter().find(|it| file.contains(**it)) {
        bail!("process {pid} reports to {file}, and only the process knows {other}: {HOW}");
    }
    Ok(file.replace("%p", &pid.to_string()).into())
}

/// Of the files whose names only differ in the time of the start, the one that was written last.
fn latest(file: &Path) -> Option<PathBuf> {
    let (begin, end) = file.file_name()?.to_str()?.split_once("%t")?;
    let entries = std::fs::read_dir(file.parent()?).ok()?.flatten();
    let fitting = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(begin) && name.ends_with(end)
    });
    let written = |entry: &DirEntry| entry.metadata().and_then(|it| it.modified()).ok();
    Some(fitting.max_by_key(written)?.path())
}

#[cfg(target_os = "linux")]
fn environment(pid: u32) -> Result<Vec<String>> {
    use std::io::ErrorKind;

    match std::fs::read(format!("/proc/{pid}/environ")) {
        Ok(bytes) => Ok(bytes
            .split(|&byte| byte == 0)
            .map(|entry| String::from_utf8_lossy(entry).into_owned())
            .collect()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            bail!("process {pid} is another user's, or does not let its environment be read")
        }
        Err(_) => bail!("there is no process {pid}"),
    }
}

#[cfg(not(target_os = "linux"))]
fn environment(_: u32) -> Result<Vec<String>> {
    bail!(
        "another process's environment can be read on Linux only: `cargo tsc report FILE` shows its file"
    )
}

/// Whether the process is still running. A process that has ended, but whose parent has not waited for it yet, is not.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state != Some('Z')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_that_of_the_environment() {
        let file = |file: &str| {
            let others = ["TSC_REPORT=json", "TSC_REPORT_EVERY=1s"].map(str::to_owned);
            let environment = [&others[..], &[format!("TSC_REPORT_FILE={file}")]].concat();
            file_in(&environment, 12).map_err(|error| error.to_string())
        };
        assert_eq!(file("/tmp/run-%p.json"), Ok("/tmp/run-12.json".into()));
        assert_eq!(file("/tmp/%p-%t.json"), Ok("/tmp/12-%t.json".into()));
        let error = file("/tmp/%h-%p.json").unwrap_err();
        assert!(error.contains("only the process knows %h"), "{error}");
        assert!(file_in(&[], 12).is_err());
        // The name says that the reports are JSON.
        let without_form = ["TSC_REPORT_EVERY=1s", "TSC_REPORT_FILE=run.json"].map(str::to_owned);
        assert_eq!(file_in(&without_form, 12).unwrap(), Path::new("run.json"));
        let text = ["TSC_REPORT=text".to_owned()];
        let error = file_in(&[&without_form[..], &text].concat(), 12).unwrap_err();
        assert!(error.to_string().contains("no reports as JSON"), "{error}");
    }

    #[test]
    fn of_two_programs_that_a_process_has_been_the_second_is_watched() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        assert_eq!(latest(&path("12-%t.json")), None);
        let names = ["12-2026.json", "12-2027.json", "112-2028.json"];
        for (name, seconds) in names.into_iter().zip(1..) {
            let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let file = std::fs::File::create(path(name)).unwrap();
            file.set_modified(written).unwrap();
        }
        assert_eq!(latest(&path("12-%t.json")), Some(path("12-2027.json")));
        assert_eq!(latest(&path("12.json")), None);
    }
}
