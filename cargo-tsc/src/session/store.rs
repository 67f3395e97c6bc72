//! The place of sessions: `target/tsc`, with a folder for each.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use tsc_report::Report;

use super::name::{check_name, now};
use super::{ABOUT, About, Run, read};
use crate::lock::Lock;
use crate::output;
use crate::progress::warn;

/// A file that keeps a folder out of backups, and its text. Cargo writes it in a target folder, but only if it has created that itself.
const TAG: (&str, &str) = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# This file is a cache directory tag created by cargo.\n\
     # For information about cache directory tags see https://bford.info/cachedir/\n",
);

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
            Err(error) => {
                let here = std::env::current_dir().unwrap_or_default();
                let mut around = here.ancestors();
                if around.any(|folder| folder.join("Cargo.toml").exists()) {
                    error.to_string().lines().for_each(warn);
                }
                Self::new(Path::new("target"))
            }
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
            if let Ok(about) = fs::metadata(path.join(ABOUT)) {
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

    /// Keeps other processes from using `what` as long as the result exists. If one does, waits until it has finished.
    ///
    /// # Errors
    /// If there is no file that can be locked.
    pub fn lock(&self, what: &str) -> Result<Lock> {
        self.create()?;
        Lock::take(&self.folder.join(".locks").join(what))
    }

    /// Creates the folder, and the target folder around it as cargo does.
    fn create(&self) -> Result<()> {
        let create = |target: &Path| -> io::Result<()> {
            if !target.exists() {
                fs::create_dir_all(target)?;
                fs::write(target.join(TAG.0), TAG.1)?;
            }
            fs::create_dir_all(&self.folder)
        };
        let target = self.folder.parent().unwrap_or(&self.folder);
        create(target).with_context(|| self.folder.display().to_string())
    }

    /// Begins a session. An older session with the same name is renamed. If another process is writing it, waits until it has finished.
    ///
    /// # Errors
    /// If the name is not valid as a file name, or the folder cannot be created.
    pub fn begin(&self, name: Option<&str>, about: About) -> Result<Writer> {
        self.create()?;
        let (mut lock, mut older) = (None, None);
        let folder = match name {
            Some(name) => {
                check_name(name)?;
                lock = Some(self.lock(&format!("session-{name}"))?);
                older = self.make_room(name)?;
                let folder = self.folder.join(name);
                fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
                folder
            }
            None => self.new_folder()?,
        };
        let writer = Writer {
            folder,
            about,
            older,
            _lock: lock,
        };
        writer.save()?;
        Ok(writer)
    }

    /// Renames the session with this name, if there is one. Returns where it is then.
    fn make_room(&self, name: &str) -> Result<Option<PathBuf>> {
        let folder = self.folder.join(name);
        if !folder.exists() {
            return Ok(None);
        }
        let mut names = (1..).map(|n| self.folder.join(format!("{name}.{n}")));
        let kept = names.find(|kept| !kept.exists()).unwrap_or_default();
        fs::rename(&folder, &kept).with_context(|| folder.display().to_string())?;
        Ok(Some(kept))
    }

    /// Creates a folder that is named by the time, and that no other process has created.
    fn new_folder(&self) -> Result<PathBuf> {
        let name = now();
        for n in 1.. {
            let folder = self.folder.join(match n {
                1 => name.clone(),
                n => format!("{name}-{n}"),
            });
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).context(folder.display().to_string()),
            }
        }
        unreachable!("there are more names than sessions")
    }
}

/// A session that is being written.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    /// The future contents of `session.json`.
    pub about: About,
    /// Where an older session is that had this name.
    older: Option<PathBuf>,
    /// Keeps other processes from using the name.
    _lock: Option<Lock>,
}

impl Writer {
    /// The path of the session.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
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

    /// Whether a program has written something, even if nothing was called.
    #[must_use]
    pub fn is_written(&self) -> bool {
        let mut folders = self
            .about
            .runs
            .iter()
            .map(|run| self.folder.join(&run.folder));
        folders.any(|folder| fs::read_dir(folder).is_ok_and(|it| it.count() > 0))
    }

    /// The name of the next run's folder.
    fn next_name(&self) -> String {
        format!("{:03}", self.about.runs.len() + 1)
    }

    /// Creates the next run's folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn next_run(&self) -> Result<PathBuf> {
        let folder = self.folder.join(self.next_name());
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }

    /// Adds a run, and returns the sum of its processes' reports.
    ///
    /// # Errors
    /// If a report cannot be read, or `session.json` cannot be written. The reports are kept.
    pub fn enter(&mut self, mut run: Run) -> Result<Option<Report>> {
        run.folder = self.next_name();
        let folder = self.folder.join(&run.folder);
        self.about.runs.push(run);
        self.save()?;
        read::read_run(&folder)
    }

    /// Removes the last run.
    ///
    /// # Errors
    /// If its folder cannot be removed.
    pub fn forget(&mut self) -> Result<()> {
        self.about.runs.pop();
        let folder = self.folder.join(self.next_name());
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())
    }

    /// What became of an older session that had this name, for people.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        let older = self.older.as_deref()?.file_name()?.display();
        let name = self.folder.file_name()?.display();
        Some(format!("the session that was named {name} is now {older}"))
    }

    /// Removes a session that has no reports, or that only served to find out how to measure. An older session gets its name back.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn discard(self) -> Result<()> {
        let context = || self.folder.display().to_string();
        fs::remove_dir_all(&self.folder).with_context(context)?;
        // It may have been removed in the meantime.
        match self.older.as_deref().filter(|older| older.exists()) {
            Some(older) => fs::rename(older, &self.folder).with_context(context),
            None => Ok(()),
        }
    }

    /// Makes this session a newer one than `other`, whichever of them was written last.
    ///
    /// # Errors
    /// If the time of a file cannot be read or set.
    pub fn follow(&self, other: &Self) -> io::Result<()> {
        let of_other = fs::metadata(other.folder.join(ABOUT))?.modified()?;
        let file = fs::File::options()
            .append(true)
            .open(self.folder.join(ABOUT))?;
        // Files that are written one after the other may have the same time.
        file.set_modified(of_other + Duration::from_millis(10))
    }

    /// Writes `session.json`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.about)? + "\n";
        output::write(&self.folder.join(ABOUT), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_the_same_name_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        store.begin(Some("a"), About::default()).unwrap();
        let mut second = store.begin(Some("a"), About::default()).unwrap();
        let run = second.next_run().unwrap();
        second.enter(Run::default()).unwrap();
        assert!(!second.is_written());
        fs::write(run.join("report"), "").unwrap();
        assert!(second.is_written());
        assert_eq!(
            second.remark().as_deref(),
            Some("the session that was named a is now a.1")
        );
        assert_eq!(store.sessions().unwrap().len(), 2);
        second.discard().unwrap();
        assert_eq!(store.sessions().unwrap(), [store.folder().join("a")]);
    }

    #[test]
    fn of_two_sessions_the_one_that_follows_is_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let [one, other] = ["a", "b"].map(|name| store.begin(Some(name), About::default()));
        let (one, other) = (one.unwrap(), other.unwrap());
        one.follow(&other).unwrap();
        assert_eq!(store.newest().unwrap(), one.folder());
        other.follow(&one).unwrap();
        assert_eq!(store.newest().unwrap(), other.folder());
    }

    #[test]
    fn target_folder_that_is_not_there_yet_gets_cargos_tag() {
        let dir = tempfile::tempdir().unwrap();
        for (folder, is_tagged) in [(".", false), ("target", true)] {
            let target = dir.path().join(folder);
            drop(Store::new(&target).lock("all").unwrap());
            assert_eq!(target.join("CACHEDIR.TAG").exists(), is_tagged);
        }
    }

    #[test]
    fn sessions_of_one_second_have_two_names() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let sessions: Vec<Writer> = (0..50)
            .map(|_| store.begin(None, About::default()).unwrap())
            .collect();
        assert!(sessions.iter().all(|session| session.remark().is_none()));
        assert_eq!(store.sessions().unwrap().len(), 50);
    }

    #[test]
    fn sessions_of_one_name_do_not_disturb_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let write = |n: u8| {
            let mut session = store.begin(Some("a"), About::default()).unwrap();
            session.about.command = vec![n.to_string()];
            fs::write(session.next_run().unwrap().join("report"), [n]).unwrap();
            session.enter(Run::default()).unwrap();
        };
        std::thread::scope(|scope| {
            for n in 0..8 {
                scope.spawn(move || write(n));
            }
        });
        let sessions = store.sessions().unwrap();
        assert_eq!(sessions.len(), 8);
        for session in sessions {
            let about = fs::read_to_string(session.join("session.json")).unwrap();
            let about: About = serde_json::from_str(&about).unwrap();
            let n = fs::read(session.join("001/report")).unwrap()[0];
            assert_eq!((about.command, about.runs.len()), (vec![n.to_string()], 1));
        }
    }
}
