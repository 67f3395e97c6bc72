//! Runs git.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::interrupt;

/// The variables by which git tells a hook, and every git that the hook starts, which repository, index and working tree to use.
const OF_A_REPOSITORY: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Makes the command, and what it starts, use the repository of its folder, also if this program runs in a hook of git's. Otherwise it
/// would change the index of the commit that is being made.
pub fn leave_hook(command: &mut Command) {
    for name in OF_A_REPOSITORY {
        command.env_remove(name);
    }
}

/// Runs git in a folder and returns its output.
///
/// # Errors
/// If git cannot be started or fails.
pub fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    git_with_index(folder, arguments, None)
}

/// Like [`git`](fn@git), with a file as the index in place of the repository's own.
///
/// # Errors
/// If git cannot be started or fails.
pub fn git_with_index(folder: &Path, arguments: &[&str], index: Option<&Path>) -> Result<String> {
    let mut command = Command::new("git");
    leave_hook(&mut command);
    // The repository's hooks are for its user's own work.
    command.args(["-c", "core.hooksPath=/dev/null"]);
    command.current_dir(folder).args(arguments);
    if let Some(index) = index {
        command.env("GIT_INDEX_FILE", index);
    }
    let removes = arguments.starts_with(&["worktree", "remove"]);
    #[cfg(unix)]
    if removes {
        // A Ctrl-C must not end it. Any other git may ask for a password, which the terminal only lets the group of this process read.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().context("git cannot be started")?;
    let passing = (!removes).then(|| interrupt::pass_to(&child));
    let output = child.wait_with_output()?;
    drop(passing);
    if !output.status.success() {
        interrupt::check()?;
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
