//! git, on repositories that tests make.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The command git in this folder.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    // If the tests run in a hook, git has named the repository, index and working tree of the commit that is being made.
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder);
    forget_the_user(&mut command);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "a");
        command.env(format!("GIT_{who}_EMAIL"), "a@b.c");
    }
    command
}

/// Keeps every git that the command starts from the configuration of the user and the system: it may sign commits, and have hooks.
pub(crate) fn forget_the_user(command: &mut Command) {
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1");
}

/// Runs git in this folder, and returns what it prints.
#[track_caller]
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let output = command(folder).args(words).output().unwrap();
    assert!(
        output.status.success(),
        "git {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a repository of what is in the folder, with one commit.
pub(crate) fn commit_all(folder: &Path) {
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message=one"]);
}

#[test]
fn commit_is_in_the_repository_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    commit_all(folder.path());
    git(folder.path(), &["tag", "one"]);
    assert!(folder.path().join(".git/refs/tags/one").exists());
}

#[test]
fn hook_of_git_and_the_users_configuration_change_no_repository_of_a_test() {
    let user = tempfile::tempdir().unwrap();
    let path = |name: &str| user.path().join(name);
    git(user.path(), &["init", "--quiet"]);
    fs::write(
        path(".gitconfig"),
        "[commit]\ngpgsign = true\n[tag]\ngpgsign = true\n[gpg]\nprogram = none\n",
    )
    .unwrap();
    let mut again = Command::new(env::current_exe().unwrap());
    again
        .args(["--exact", "git::commit_is_in_the_repository_of_its_folder"])
        .env("GIT_DIR", path(".git"))
        .env("GIT_INDEX_FILE", path(".git/index"))
        .env("HOME", user.path());
    let output = again.output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && out.contains("1 passed"),
        "{out}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!path(".git/index").exists(), "{out}");
    assert_eq!(git(user.path(), &["for-each-ref"]), "");
}
