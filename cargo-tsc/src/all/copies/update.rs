//! Brings the copies up to date with the project.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result};

use super::{ALL, ANNOTATED, BARE, Copies};
use crate::all::copy::{Replaced, left_out, sync, sync_lock};
use crate::all::folder::Folder;
use crate::all::written::Written;
use crate::session::Store;
use crate::sources::on_disk;

impl Copies<'_> {
    /// Updates the copy of this name, and returns its folder.
    pub(super) fn sync(&self, name: &str, replaced: &Replaced) -> Result<PathBuf> {
        let root = self.original.root();
        let copy = self.outside.copy(&self.folder, name);
        let target = self.original.target();
        let mut leave_out = left_out(root, target);
        if copy.starts_with(on_disk(root)) {
            // Cargo finds this folder from inside the copy anyway. With a second one, lists in its settings would be doubled.
            leave_out.push(root.join(".cargo"));
        }
        let context = || copy.display().to_string();
        let all = Folder::open(Store::new(target).folder(), ALL).with_context(context)?;
        let folder = self.outside.open(&all, name).with_context(context)?;
        let record = format!("{}.written.json", self.outside.name(name));
        let record = self.folder.join(record);
        let mut written = Written::take(&record, root)?;
        sync(root, &folder, &leave_out, replaced, &mut written)?;
        written.keep(&record)?;
        self.dependencies.sync(&all, target, replaced)?;
        // Without a lock file of the project, both copies have the one that cargo has made for the first.
        let bare = self.outside.copy(&self.folder, BARE);
        let (from, also) = match name {
            ANNOTATED => (&*bare, self.dependencies.key()),
            _ => (root, String::new()),
        };
        sync_lock(from, &folder, &all, OsStr::new(name), also.as_bytes()).with_context(context)?;
        self.sync_git(&folder, &copy).with_context(context)?;
        Ok(copy)
    }

    /// Build scripts may ask git for the version. It may write its index, so the copy has one of its own, as a worktree does. `.git` is a folder,
    /// in which they may watch a file, so only what is another one than before is written.
    fn sync_git(&self, copy: &Folder, path: &Path) -> io::Result<()> {
        let git = self.original.root().join(".git");
        if !git.is_dir() {
            return Ok(());
        }
        let own = copy.folder(OsStr::new(".git"))?;
        let line = |path: &Path| Ok(format!("{}\n", path.display()).into_bytes());
        for (name, contents) in [
            ("HEAD", fs::read(git.join("HEAD"))),
            ("index", fs::read(git.join("index"))),
            ("commondir", line(&git)),
            ("gitdir", line(&path.join(".git"))),
        ] {
            let copied = OsString::from(format!("{name}.copied"));
            if let Ok(contents) = contents
                && !own.read(&copied).is_ok_and(|there| there == contents)
            {
                own.write(OsStr::new(name), &contents, None)?;
                own.write(&copied, &contents, None)?;
            }
        }
        Ok(())
    }
}
