//! Checks out a revision in a separate folder. The user's working tree does not change.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

/// The name of the working tree in its present state, in place of a revision.
const AS_IT_IS: &str = ".";

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
        let root = PathBuf::from(git(&here, &["rev-parse", "--show-toplevel"])?);
        let inner = here
            .canonicalize()?
            .strip_prefix(root.canonicalize()?)
            .map(Path::to_owned)
            .unwrap_or_default();
        Ok(Self { root, inner })
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
            bail!("{revision}: no such revision in {}", self.root.display());
        };
        std::fs::create_dir_all(parent)?;
        let folder = tempfile::Builder::new()
            .prefix("worktree-")
            .tempdir_in(parent)?;
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
        Ok(checkout)
    }
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
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.root().join(&self.repository.inner)
    }
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            let path = folder.path().display().to_string();
            let removed = git(
                &self.repository.root,
                &["worktree", "remove", "--force", &path],
            );
            drop(folder);
            if removed.is_err() {
                // The folder has been removed; this makes git forget it, too.
                let _ = git(&self.repository.root, &["worktree", "prune"]);
            }
        }
    }
}

/// Runs git and returns its output.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments);
    #[cfg(unix)]
    // A Ctrl-C must not end git while it removes a worktree.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let output = command.output().context("git cannot be started")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "git {}: {}",
            arguments.first().copied().unwrap_or_default(),
            said.trim().replace('\n', ": ")
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned())
}
