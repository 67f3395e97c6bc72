//! Checks out a revision in a separate folder. The user's working tree does not change.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;

use super::{manifest, settings, submodules};
use crate::all::{as_root, is_workspace, with_paths};
use crate::build::CargoCommand;
use crate::git::git;
use crate::interrupt;

/// The name of the working tree in its present state, in place of a revision.
const AS_IT_IS: &str = ".";

/// The beginning of the names of checkouts.
const PREFIX: &str = "worktree-";

/// A package's lock file.
const LOCK: &str = "Cargo.lock";

/// A git repository, and the user's folder in it.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    inner: PathBuf,
}

impl Repository {
    /// The repository that contains the current folder.
    ///
    /// # Errors
    /// If there is no repository.
    pub fn here() -> Result<Self> {
        let here = std::env::current_dir()?;
        let root = git(&here, &["rev-parse", "--show-toplevel"])
            .context("ab compares revisions of a git repository")?;
        let root = PathBuf::from(root);
        let inner = here
            .canonicalize()?
            .strip_prefix(root.canonicalize()?)
            .map(Path::to_owned)
            .unwrap_or_default();
        Ok(Self { root, inner })
    }

    /// The name of the folder for checkouts and what is built from them. Clones and worktrees may share a target folder, and cargo takes the
    /// packages of their working trees for the same, and what one has built for up to date in another whose files are older. So only the one
    /// that contains the target folder has the short name.
    #[must_use]
    pub fn name_of_folder(&self, target: &Path) -> String {
        let mut around = target.ancestors();
        if around.find(|folder| folder.join(".git").exists()) == Some(&self.root) {
            return ".ab".to_owned();
        }
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        format!(".ab-{:016x}", hasher.hash_one(&self.root))
    }

    /// Removes the checkouts in `parent` of runs that were killed, also those whose folders are gone. No other run may use `parent`.
    ///
    /// # Errors
    /// If git does not list its worktrees.
    pub fn sweep(&self, parent: &Path) -> Result<()> {
        let beginning = parent.canonicalize()?.join(PREFIX).display().to_string();
        let known = git(&self.root, &["worktree", "list", "--porcelain"])?;
        let known = known
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "))
            .map(PathBuf::from);
        let there = std::fs::read_dir(parent)?.filter_map(|entry| Some(entry.ok()?.path()));
        for path in known.chain(there) {
            let whole = path.canonicalize().unwrap_or(path.clone());
            if whole.display().to_string().starts_with(&beginning) {
                self.remove(&path);
            }
        }
        Ok(())
    }

    /// Removes a checkout, and makes git forget it.
    fn remove(&self, path: &Path) {
        let text = path.display().to_string();
        // Said twice, it also removes one that was killed while git made it.
        let forced = ["worktree", "remove", "--force", "--force", &text];
        let removed = git(&self.root, &forced);
        // If git does not know it, or a file in it cannot be removed, this removes what it can.
        if removed.is_err() && std::fs::remove_dir_all(path).is_ok() {
            let _ = git(&self.root, &forced);
        }
    }

    /// Checks out a revision in a folder in `parent`.
    ///
    /// # Errors
    /// If the revision does not exist or cannot be checked out.
    pub fn check_out(&self, revision: &str, parent: &Path) -> Result<Checkout<'_>> {
        if revision == AS_IT_IS {
            return Ok(Checkout {
                repository: self,
                folder: None,
            });
        }
        let commit = format!("{revision}^{{commit}}");
        let Ok(commit) = git(&self.root, &["rev-parse", "--verify", "--quiet", &commit]) else {
            interrupt::check()?;
            bail!("{revision}: no such revision in {}", self.root.display());
        };
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // This is created before the checkout, so that the folder is removed whatever happens.
        let checkout = Checkout {
            repository: self,
            folder: Some(folder),
        };
        let path = checkout.root().display().to_string();
        git(
            &self.root,
            &[
                "worktree", "add", "--quiet", "--detach", "--force", &path, &commit,
            ],
        )?;
        submodules::fill(&self.root, &commit, checkout.root())?;
        self.keep_dependencies(checkout.root())?;
        settings::say_what_counts_for_both(revision, &self.root, &self.inner, checkout.root());
        settings::keep(&self.root, &self.inner, checkout.root())?;
        Ok(checkout)
    }

    /// Makes paths of dependencies outside of the repository, such as `../x`, lead from the copy to where they lead from the original. A package
    /// that is of no workspace in the revision is of none in the copy, though the working tree around that may be one.
    fn keep_dependencies(&self, copy: &Path) -> Result<()> {
        let is_around = copy.ancestors().skip(1).any(is_workspace);
        let manifests = git(copy, &["ls-files", "-z", ":(glob)**/Cargo.toml"])?;
        for name in manifests.split_terminator('\0') {
            let manifest = copy.join(name);
            let folder = self.root.join(name);
            let folder = folder.parent().unwrap_or(&self.root);
            // A link may lead to a file of the user's. What is no manifest belongs to somebody else, such as a test.
            let is_file = manifest.symlink_metadata().is_ok_and(|it| it.is_file());
            // Without a lock file of its own, cargo would choose the newest versions of what the working tree has older ones of.
            let [lock, own] = [manifest.with_file_name(LOCK), folder.join(LOCK)];
            if is_file && own.is_file() && lock.symlink_metadata().is_err() {
                std::fs::copy(own, lock)?;
            }
            let text = std::fs::read_to_string(&manifest).ok().filter(|_| is_file);
            let Some(text) = text else {
                continue;
            };
            let mut changed = with_paths(&text, folder, &self.root);
            if is_around && is_alone(&text, &manifest, copy) {
                let own = manifest.parent().unwrap_or(copy);
                changed = changed.and_then(|changed| as_root(&changed, own));
            }
            if let Ok(changed) = changed
                && text != changed
            {
                std::fs::write(manifest, changed)?;
            }
        }
        Ok(())
    }
}

/// Whether a manifest with this text is of no workspace in the folder `root`.
fn is_alone(text: &str, manifest: &Path, root: &Path) -> bool {
    let folders = manifest.ancestors().skip(1);
    let mut around = folders.take_while(|folder| folder.starts_with(root));
    !text.contains("workspace") && !around.any(is_workspace)
}

/// The files of a revision. They are removed when this is dropped.
#[derive(Debug)]
pub struct Checkout<'a> {
    repository: &'a Repository,
    folder: Option<TempDir>,
}

impl Checkout<'_> {
    fn root(&self) -> &Path {
        self.folder
            .as_ref()
            .map_or(&self.repository.root, TempDir::path)
    }

    /// Whether this is the user's working tree.
    #[must_use]
    pub fn is_working_tree(&self) -> bool {
        self.folder.is_none()
    }

    /// The folder in it that corresponds to the user's current folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn folder(&self) -> Result<PathBuf> {
        let folder = self.root().join(&self.repository.inner);
        let inner = self.repository.inner.display();
        ensure!(folder.is_dir(), "there is no folder {inner}");
        Ok(folder)
    }

    /// The user's command for this folder.
    ///
    /// # Errors
    /// If it names a manifest outside of the repository.
    pub fn command(&self, command: &CargoCommand) -> Result<CargoCommand> {
        let here = std::env::current_dir()?;
        manifest::in_checkout(command, &here, &self.repository.root, self.root())
    }
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            self.repository.remove(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Makes a repository with one commit of everything in the folder.
    fn commit(folder: &Path) {
        git(folder, &["init", "--quiet"]).unwrap();
        git(folder, &["add", "."]).unwrap();
        let author = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
        let unsigned = [
            "-c",
            "commit.gpgsign=false",
            "commit",
            "--quiet",
            "-m",
            "one",
        ];
        git(folder, &[&author[..], &unsigned[..]].concat()).unwrap();
    }

    fn repository() -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("main");
        fs::create_dir_all(root.join("part/inner")).unwrap();
        fs::write(root.join("part/inner/file"), "inner").unwrap();
        commit(&root.join("part/inner"));
        fs::write(root.join("part/file"), "outer").unwrap();
        commit(&root.join("part"));
        fs::write(root.join("file"), "main").unwrap();
        commit(&root);
        let inner = PathBuf::new();
        (dir, Repository { root, inner })
    }

    #[test]
    fn submodules_are_checked_out_too() {
        let (dir, repository) = repository();
        let worktrees = git(&repository.root, &["worktree", "list"]).unwrap();
        fs::write(repository.root.join("part/inner/file"), "changed").unwrap();
        let checkout = repository.check_out("HEAD", dir.path()).unwrap();
        let read = |path: &str| fs::read_to_string(checkout.folder().unwrap().join(path)).unwrap();
        assert_eq!(
            ["file", "part/file", "part/inner/file"].map(read),
            ["main", "outer", "inner"]
        );
        let root = checkout.root().to_owned();
        drop(checkout);
        assert!(!root.exists());
        assert_eq!(
            git(&repository.root, &["worktree", "list"]).unwrap(),
            worktrees
        );
        let part = repository.root.join("part");
        assert_eq!(git(&part, &["status", "--porcelain"]).unwrap(), " M inner");
    }

    #[test]
    fn what_is_not_of_the_revision_is_that_of_the_working_tree() {
        let (dir, repository) = repository();
        let text = "[dependencies]\na = { path = \"../../beside\" }\nb = { path = \"../part\" }\n";
        fs::create_dir(repository.root.join("member")).unwrap();
        fs::write(repository.root.join("member/Cargo.toml"), text).unwrap();
        fs::write(repository.root.join("Cargo.toml"), "{{ a template }}").unwrap();
        fs::create_dir(repository.root.join(".cargo")).unwrap();
        let settings = ".cargo/config.toml";
        fs::write(repository.root.join(settings), "build.jobs = 1").unwrap();
        let toolchains = ["rust-toolchain.toml", "rust-toolchain"];
        fs::write(repository.root.join(toolchains[0]), "1.94").unwrap();
        commit(&repository.root);
        fs::write(repository.root.join(settings), "build.jobs = 2").unwrap();
        fs::remove_file(repository.root.join(toolchains[0])).unwrap();
        fs::write(repository.root.join(toolchains[1]), "1.95").unwrap();
        // It is not in the revision.
        fs::write(repository.root.join("Cargo.lock"), "# versions").unwrap();
        // The revision has what the working tree no longer has.
        fs::remove_dir_all(repository.root.join("member")).unwrap();
        let parent = dir.path().join("checkouts");
        fs::create_dir(&parent).unwrap();
        let checkout = repository.check_out("HEAD", &parent).unwrap();
        let changed = fs::read_to_string(checkout.root().join("member/Cargo.toml")).unwrap();
        let beside = dir.path().join("beside").display().to_string();
        let expected = text.replace("../../beside", &beside);
        assert_eq!(changed, expected);
        let lock = fs::read_to_string(checkout.root().join("Cargo.lock"));
        assert_eq!(lock.unwrap(), "# versions");
        assert!(!checkout.root().join("member/Cargo.lock").exists());
        let settings = fs::read_to_string(checkout.root().join(settings));
        assert_eq!(settings.unwrap(), "build.jobs = 2");
        let toolchains = toolchains.map(|name| fs::read_to_string(checkout.root().join(name)).ok());
        assert_eq!(toolchains, [None, Some("1.95".to_owned())]);
    }

    #[test]
    fn what_killed_runs_have_left_is_removed() {
        let (dir, repository) = repository();
        let list = || git(&repository.root, &["worktree", "list"]).unwrap();
        let before = list();
        let parent = dir.path().join("checkouts");
        fs::create_dir(&parent).unwrap();
        let names = [
            "worktree-there",
            "worktree-gone",
            "worktree-locked",
            "other",
        ];
        for path in names.map(|name| parent.join(name).display().to_string()) {
            git(
                &repository.root,
                &["worktree", "add", "--quiet", "--detach", &path],
            )
            .unwrap();
        }
        let locked = parent.join("worktree-locked").display().to_string();
        git(&repository.root, &["worktree", "lock", &locked]).unwrap();
        fs::remove_dir_all(parent.join("worktree-gone")).unwrap();
        fs::create_dir(parent.join("worktree-unknown")).unwrap();
        repository.sweep(&parent).unwrap();
        let left: Vec<_> = fs::read_dir(&parent)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["other"]);
        assert_eq!(list().lines().count(), before.lines().count() + 1);
    }
}
