//! A revision checked out beside the user's working tree, which stays as it is.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

/// What stands for the working tree as it is, in place of a revision.
const AS_IT_IS: &str = ".";

/// A git repository, and where in it the user is.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    inner: PathBuf,
}

impl Repository {
    /// The one around the working folder.
    ///
    /// # Errors
    /// If there is none.
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

    /// Checks a revision out, in `parent`.
    ///
    /// # Errors
    /// If there is no such revision, or it cannot be checked out.
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
        // Made before it is checked out, so that it is removed whatever happens meanwhile.
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

/// A revision's files, for as long as this lives.
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

    /// Whether this is the user's own tree.
    #[must_use]
    pub fn is_working_tree(&self) -> bool {
        self.folder.is_none()
    }

    /// The folder in it that the user is in.
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
                // The folder is gone by now, and git forgets what it knew of it.
                let _ = git(&self.repository.root, &["worktree", "prune"]);
            }
        }
    }
}

/// What git prints.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments);
    #[cfg(unix)]
    // A Ctrl-C that ends this program does not end git in the middle of tidying up.
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
