//! The files of submodules, which git does not check out in a worktree.

use std::path::Path;

use anyhow::Result;

use crate::git::{git, git_with_index};
use crate::progress::remark;

/// The mode of a submodule's entry in a tree.
const MODE: &str = "160000 commit ";

/// Copies the files of the submodules of `commit`, and of their submodules, from the repositories in `original` to `copy`. No repository is
/// changed. What is not there is said: the build may not need it.
///
/// # Errors
/// If git fails.
pub fn fill(original: &Path, commit: &str, copy: &Path) -> Result<()> {
    let tree = git(original, &["ls-tree", "-r", "-z", commit])?;
    for entry in tree
        .split('\0')
        .filter_map(|entry| entry.strip_prefix(MODE))
    {
        let Some((commit, path)) = entry.split_once('\t') else {
            continue;
        };
        let (original, copy) = (original.join(path), copy.join(path));
        let object = format!("{commit}^{{commit}}");
        if !original.join(".git").exists() || git(&original, &["cat-file", "-e", &object]).is_err()
        {
            remark(&format!(
                "the submodule {path} is left out: its commit {commit} is not in {}",
                original.display()
            ));
            continue;
        }
        // The files are listed in an index of their own.
        let folder = tempfile::tempdir()?;
        let index = folder.path().join("index");
        let prefix = format!("--prefix={}/", copy.display());
        git_with_index(&original, &["read-tree", commit], Some(&index))?;
        git_with_index(
            &original,
            &["checkout-index", "--all", "--force", &prefix],
            Some(&index),
        )?;
        fill(&original, commit, &copy)?;
    }
    Ok(())
}
