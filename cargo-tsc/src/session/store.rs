//! The place of sessions: `target/tsc`, with a folder for each.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail};
use tsc_runtime::Report;

use super::{About, Run, read};
use crate::output;
use crate::statistics::median;

/// The folder that contains the sessions.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The sessions of the project with this target folder.
    #[must_use]
    pub fn new(target: &Path) -> Self {
        Self {
            folder: target.join("tsc"),
        }
    }

    /// The sessions of the project that contains the current folder. Without a project, those in the current folder itself.
    #[must_use]
    pub fn here() -> Self {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec();
        match metadata {
            Ok(metadata) => Self::new(metadata.target_directory.as_std_path()),
            Err(_) => Self::new(Path::new("target")),
        }
    }

    /// The path of the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folders of all sessions, the newest last.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn sessions(&self) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).context(self.folder.display().to_string()),
        };
        let mut sessions: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if let Ok(about) = fs::metadata(path.join("session.json")) {
                sessions.push((about.modified()?, path));
            }
        }
        sessions.sort();
        Ok(sessions.into_iter().map(|(_, path)| path).collect())
    }

    /// The session that was written last.
    ///
    /// # Errors
    /// If there is none.
    pub fn newest(&self) -> Result<PathBuf> {
        self.sessions()?.pop().with_context(|| {
            format!(
                "no session in {}: `cargo tsc run` makes one",
                self.folder.display()
            )
        })
    }

    /// Begins a session. An older session with the same name is renamed.
    ///
    /// # Errors
    /// If the name is not valid as a file name, or the folder cannot be created.
    pub fn begin(&self, name: Option<&str>, about: About) -> Result<Writer> {
        let name = match name {
            Some(name) if is_file_name(name) => name.to_owned(),
            Some(name) => bail!(
                "--name {name}: use letters, digits, '-', '_' and '.', and do not begin with '.'"
            ),
            None => now(),
        };
        let folder = self.folder.join(&name);
        let mut remark = None;
        if folder.exists() {
            let kept = (1..)
                .map(|n| format!("{name}.{n}"))
                .find(|name| !self.folder.join(name).exists());
            let kept = kept.unwrap_or_default();
            fs::rename(&folder, self.folder.join(&kept))
                .with_context(|| folder.display().to_string())?;
            remark = Some(format!("the session that was named {name} is now {kept}"));
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let writer = Writer {
            folder,
            about,
            remark,
        };
        writer.save()?;
        Ok(writer)
    }
}

fn is_file_name(name: &str) -> bool {
    let allowed = |byte: char| byte.is_alphanumeric() || matches!(byte, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
}

/// The time as a name that can be sorted: `20261121-193000`.
fn now() -> String {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// The Gregorian date this many days after 1970-01-01.
fn date(mut days: u64) -> (u64, usize, u64) {
    let mut year = 1970;
    loop {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [
            31,
            28 + u64::from(leap),
            31,
            30,
            31,
            30,
            31,
            31,
            30,
            31,
            30,
            31,
        ];
        for (month, length) in lengths.into_iter().enumerate() {
            if days < length {
                return (year, month + 1, days + 1);
            }
            days -= length;
        }
        year += 1;
    }
}

/// A session that is being written.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    /// The future contents of `session.json`.
    pub about: About,
    /// The new name of an older session that had this name.
    pub remark: Option<String>,
}

impl Writer {
    /// The path of the session.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The median time of a run, from start to end.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        let seconds: Vec<f64> = self.about.runs.iter().map(|run| run.seconds).collect();
        median(&seconds)
    }

    /// The median CPU time of a run. `None` if it is not known of all runs.
    #[must_use]
    pub fn cpu_seconds(&self) -> Option<f64> {
        let runs = self.about.runs.iter();
        let seconds: Option<Vec<f64>> = runs.map(|run| run.cpu_seconds).collect();
        median(&seconds?)
    }

    /// The sum of all runs so far. It is empty if there are no reports.
    ///
    /// # Errors
    /// If a report cannot be read.
    pub fn sum(&self) -> Result<Report> {
        let mut sum = Report::default();
        for run in &self.about.runs {
            if let Some(report) = read::read_run(&self.folder.join(&run.folder))? {
                sum.merge(&report)?;
            }
        }
        Ok(sum)
    }

    /// Creates the next run's folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn next_run(&self) -> Result<PathBuf> {
        let folder = self
            .folder
            .join(format!("{:03}", self.about.runs.len() + 1));
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }

    /// Adds a run, and returns the sum of its processes' reports.
    ///
    /// # Errors
    /// If a report cannot be read, or `session.json` cannot be written. The reports are kept.
    pub fn enter(&mut self, mut run: Run) -> Result<Option<Report>> {
        let folder = self
            .folder
            .join(format!("{:03}", self.about.runs.len() + 1));
        run.folder = folder.file_name().unwrap_or_default().display().to_string();
        self.about.runs.push(run);
        self.save()?;
        read::read_run(&folder)
    }

    /// Removes a session that only served to find out how to measure. Returns the remark on the older session, which still has to be
    /// printed.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn discard(self) -> Result<Option<String>> {
        fs::remove_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        Ok(self.remark)
    }

    /// Writes `session.json`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.about)? + "\n";
        output::write(&self.folder.join("session.json"), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_the_calendars() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(19_782), (2024, 2, 29));
        assert_eq!(date(20_778), (2026, 11, 21));
    }

    #[test]
    fn a_session_of_the_same_name_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        store.begin(Some("a"), About::default()).unwrap();
        let second = store.begin(Some("a"), About::default()).unwrap();
        assert_eq!(
            second.remark.as_deref(),
            Some("the session that was named a is now a.1")
        );
        assert_eq!(store.sessions().unwrap().len(), 2);
    }

    #[test]
    fn names_do_not_leave_the_folder() {
        for name in ["", "..", "a/b", ".hidden", "a b"] {
            assert!(!is_file_name(name), "{name}");
        }
        assert!(is_file_name("base-1.2_x"));
    }
}
