//! Libraries that measure may be opened and closed: those of `programs/plugins`, by `programs/attacks` and by a program that shares its
//! runtime with them.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use tests::{program, run, text};

/// All builds use one lock file, which each of them writes. Therefore the builds take turns.
static TURN: Mutex<()> = Mutex::new(());

fn attack(arguments: &[&str]) -> Output {
    let mut command = program(env!("CARGO_BIN_EXE_attacks"));
    run(command.args(arguments))
}

/// Builds the plugins and returns the folder with them.
fn build(packages: &[&str], flags: &str) -> PathBuf {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(packages[0]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let plugins = root.join("tests/programs/plugins");
    // The same versions of dependencies as in the workspace.
    std::fs::copy(root.join("Cargo.lock"), plugins.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(plugins)
        .args(["build", "--quiet"])
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", flags)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    tests::built(&target, "debug")
}

/// The folder with the compiler's own libraries.
fn std_folder() -> String {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir"]);
    if let Some(target) = std::env::var_os("CARGO_BUILD_TARGET") {
        rustc.arg("--target").arg(target);
    }
    let output = rustc.output().unwrap();
    text(&output.stdout).trim_end().to_owned()
}

const WAYS: [&[&str]; 4] = [
    &["call", "close"],
    &["thread", "close"],
    &["thread", "close", "fork"],
    &["call", "thread", "close", "fork"],
];

/// Checks that a plugin's calls are in the dump at the end of the process, although the process closed the plugin.
fn assert_reported(output: &Output) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(out, "end\n");
    assert!(err.contains(":CLK: plugin "), "{err}");
}

/// Why a test of libraries is skipped in a static build.
const STATIC: &str = "a static program opens no library";

#[test]
fn library_with_a_runtime_of_its_own_may_be_closed() {
    if cfg!(target_feature = "crt-static") {
        return tests::skipped(STATIC);
    }
    let library = build(&["own"], "").join("libown.so");
    for ways in WAYS {
        let output = attack(&[&["plugin", library.to_str().unwrap()], ways].concat());
        assert_reported(&output);
        assert!(text(&output.stderr).contains(":CLK: light in a plugin "));
    }
}

/// Meanwhile the dynamic loader's lock is held.
#[test]
fn initializer_of_a_library_may_wait_for_first_calls_of_the_program() {
    if cfg!(target_feature = "crt-static") {
        return tests::skipped(STATIC);
    }
    let library = build(&["own"], "").join("libown.so");
    let output = attack(&["first-call-while-opening", library.to_str().unwrap()]);
    assert_eq!(text(&output.stdout), "end\n");
}

#[test]
fn library_that_shares_the_runtime_may_be_closed() {
    if cfg!(target_feature = "crt-static") {
        return tests::skipped(STATIC);
    }
    let folder = build(&["shared", "shared_host"], "-C prefer-dynamic");
    let libraries = format!("{}:{}", folder.join("deps").display(), std_folder());
    for ways in WAYS {
        let mut command = program(folder.join("shared_host"));
        command.env("LD_LIBRARY_PATH", &libraries);
        assert_reported(&run(command.arg(folder.join("libshared.so")).args(ways)));
    }
}
