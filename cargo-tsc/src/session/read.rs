//! Reads what the user names: a session, a folder of reports, or one report.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tsc_report::{ReadError, Report};

use super::name::is_file_name;
use super::{ABOUT, About, Run, Session, Store, parts};
use crate::progress::{name_of, remark};

/// Loads the session with the path or name `name`, or the newest one.
///
/// # Errors
/// If there is none, or if a file in it is not a report.
pub fn load(name: Option<&Path>, store: &Store) -> Result<Session> {
    let path = match name {
        Some(name) => find(name, store)?,
        None => store.newest()?,
    };
    let label = match name {
        Some(name) => name.display().to_string(),
        None => name_of(&path),
    };
    // Also a pipe, as of a shell's `<(…)`.
    if !path.is_dir() {
        let runs = vec![read_report(&path)?];
        return Ok(Session {
            label,
            path,
            about: None,
            folders: vec![String::new()],
            runs,
        });
    }
    let about = read_about(&path)?;
    let known = about.as_ref().map_or(&[][..], |about| &about.runs);
    let (folders, runs): (Vec<String>, Vec<Report>) = read_runs(&path, known)?.into_iter().unzip();
    if runs.is_empty() {
        bail!("{}: no report in this folder", path.display());
    }
    Ok(Session {
        label,
        path,
        about,
        folders,
        runs,
    })
}

/// The folder of the session with that name, or else the path itself. A word is first of all a name: many projects have a folder `tests`.
fn find(name: &Path, store: &Store) -> Result<PathBuf> {
    let session = store.folder().join(name);
    let is_word = name.to_str().is_some_and(is_file_name);
    if is_word && session.exists() {
        return Ok(session);
    }
    if name.exists() {
        return Ok(name.to_owned());
    }
    if name.components().count() == 1 && session.exists() {
        return Ok(session);
    }
    bail!(
        "{}: no such file, folder or session; `cargo tsc list` shows the sessions in {}",
        name.display(),
        store.folder().display()
    )
}

/// Whether the folder is a session.
pub fn is_saved(folder: &Path) -> bool {
    folder.join(ABOUT).is_file()
}

fn read_about(folder: &Path) -> Result<Option<About>> {
    let path = folder.join(ABOUT);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let about =
        serde_json::from_str(&text).with_context(|| format!("{}: damaged", path.display()))?;
    Ok(Some(about))
}

/// Each report in the folder is a run. The reports in a subfolder are those of one run's processes. Each has the name of its file or folder.
/// If some are known as the session's runs, the others are left out: one that was killed with `cargo tsc`, or what somebody copied there.
fn read_runs(folder: &Path, known: &[Run]) -> Result<Vec<(String, Report)>> {
    let mut runs = Vec::new();
    let mut unknown = Vec::new();
    for path in entries(folder)? {
        let name = name_of(&path);
        if !known.is_empty() && known.iter().all(|run| run.folder != name) {
            unknown.extend(has_reports(&path)?.then_some(name));
            continue;
        }
        let run = match path.is_dir() {
            true => read_run(&path)?,
            false if is_report(&path) => Some(read_report(&path)?),
            false => None,
        };
        runs.extend(run.map(|run| (name, run)));
    }
    if !unknown.is_empty() {
        let (folder, unknown) = (folder.display(), unknown.join(", "));
        remark(&format!(
            "{folder}: left out, because {ABOUT} does not list it as a run: {unknown}"
        ));
    }
    Ok(runs)
}

fn has_reports(path: &Path) -> Result<bool> {
    Ok(match path.is_dir() {
        true => entries(path)?.iter().any(|path| is_report(path)),
        false => is_report(path),
    })
}

/// The sum of the reports of a run's processes. `None` if there are none.
pub(super) fn read_run(folder: &Path) -> Result<Option<Report>> {
    let mut sum: Option<Report> = None;
    for path in entries(folder)?.iter().filter(|path| is_report(path)) {
        let report = read_report(path)?;
        match &mut sum {
            None => sum = Some(report),
            Some(sum) => sum
                .merge(&report)
                .with_context(|| path.display().to_string())?,
        }
    }
    Ok(sum)
}

fn is_report(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
        && path.file_name().is_some_and(|name| name != ABOUT)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let context = || folder.display().to_string();
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        paths.push(entry.with_context(context)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Reads a file of reports, one on each line, and adds them.
///
/// # Errors
/// If the file cannot be read, contains no report, or contains reports that cannot be added.
pub fn read_report(path: &Path) -> Result<Report> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    // The last line may be cut short in the middle of a letter.
    parse(&String::from_utf8_lossy(&bytes), path)
}

/// The sum of the reports in a file's text.
///
/// # Errors
/// If it contains no report, or reports that cannot be added.
pub fn parse(text: &str, path: &Path) -> Result<Report> {
    let error = match Report::from_json(text) {
        Ok(report) => return Ok(report),
        Err(error) => error,
    };
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let reports: Vec<Report> = lines()
        .filter_map(|line| Report::from_json(line).ok())
        .collect();
    if !reports.is_empty() {
        let others = lines().count() - reports.len();
        if others > 0 {
            remark(&format!(
                "{}: {others} of {} lines are no reports, and are left out",
                path.display(),
                others + reports.len()
            ));
        }
        let reports = reports.into_iter().map(|report| (path, report));
        return Ok(parts::sum(reports)?.report);
    }
    let of_line = |line| Report::from_json(line).err();
    // Other lines may be JSON, too, such as those of a log.
    let is_meant_as_one = |line: &&str| line.starts_with("{\"schema\"");
    let is_of_values = |error: &ReadError| match error {
        ReadError::Json(error) => error.is_data(),
        _ => true,
    };
    let mut of_lines = lines().filter(is_meant_as_one).filter_map(of_line);
    let of_values = of_lines.find(is_of_values);
    let is_report = of_values.is_some();
    let error = of_values.unwrap_or(error);
    let advice = match &error {
        ReadError::Schema(_) => "",
        _ if is_report => "",
        _ if text.is_empty() => {
            "; the file is empty: the program may have been killed while it wrote"
        }
        _ if text.contains(":CLK:") => {
            "; this is the dump for people: TSC_REPORT=json makes one for programs"
        }
        ReadError::Json(error) if error.is_eof() => "; the file is cut short",
        _ if text.starts_with("{\"about\":") => {
            "; this is a session, as `cargo tsc report --json` prints it: `cargo tsc export --json` writes a report"
        }
        _ => "",
    };
    bail!("{}: {error}{advice}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::write;

    #[test]
    fn what_a_session_does_not_list_is_none_of_its_runs() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let mut session = store.begin(Some("a"), About::default()).unwrap();
        let folder = session.folder().to_owned();
        let write = |path: &str| write(&folder.join(path), Report::default().to_json());
        let folders = || load(Some(&folder), &store).unwrap().folders;
        // The first run has not ended.
        write("001/1.json");
        assert_eq!(folders(), ["001"]);
        session.enter(Run::default()).unwrap();
        write("002/1.json");
        write("copy.json");
        assert_eq!(folders(), ["001"]);
        session.enter(Run::default()).unwrap();
        assert_eq!(folders(), ["001", "002"]);
        fs::remove_file(folder.join(ABOUT)).unwrap();
        assert_eq!(folders(), ["001", "002", "copy.json"]);
    }

    #[test]
    fn a_line_that_is_cut_short_in_a_letter_leaves_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reports.json");
        let mut report = serde_json::to_value(Report::default()).unwrap();
        report["clock"]["source"] = "TSC".into();
        report["process"]["argv"] = vec!["ä"].into();
        let line = Report::from_json(&report.to_string()).unwrap().to_json();
        let cut = &line.as_bytes()[..=line.find('ä').unwrap()];
        write(&path, [line.as_bytes(), b"\n", cut].concat());
        assert_eq!(read_report(&path).unwrap().process().argv(), ["ä"]);
        write(&path, cut);
        let error = read_report(&path).unwrap_err().to_string();
        assert!(error.ends_with("; the file is cut short"), "{error}");
    }

    #[test]
    fn a_word_is_a_session_before_it_is_a_path() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        // The tests run in a folder with these.
        for name in ["src", "Cargo.toml"] {
            assert_eq!(find(name.as_ref(), &store).unwrap(), Path::new(name));
            store.begin(Some(name), About::default()).unwrap();
            let session = store.folder().join(name);
            assert_eq!(find(name.as_ref(), &store).unwrap(), session);
        }
        for path in ["./src", "src/", ".", ".."] {
            assert_eq!(find(path.as_ref(), &store).unwrap(), Path::new(path));
        }
    }
}
