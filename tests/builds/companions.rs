//! Programs in the builds that users make: link-time optimisation, small code, no unwinding, no dynamic libraries, other allocators, and
//! other crates with threads and futures. In every build, each call is reported, and the exit code is the program's own.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The exit code of the program in `companions`.
const EXIT_CODE: i32 = 7;

/// All builds use one target folder, so that procedural macros are built only once. Therefore the builds take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A way to build the program.
#[derive(Default)]
struct Build<'a> {
    name: &'a str,
    profile: &'a [&'a str],
    features: &'a str,
    flags: &'a str,
}

impl Build<'_> {
    /// Builds the program, runs it, and compares the numbers that it prints with its report.
    #[track_caller]
    fn check(&self) {
        let program = self.program();
        let report = program.with_extension("json");
        let output = tests::program(&program)
            .env("TSC_REPORT", "json")
            .env("TSC_REPORT_FILE", &report)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(EXIT_CODE), "{err}");
        let report = fs::read_to_string(report).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        let made = String::from_utf8(output.stdout).unwrap();
        assert!(made.lines().count() >= 6, "{made}");
        for line in made.lines() {
            // A line is `name figure number`. The name may have several words.
            let (line, expected) = line.rsplit_once(' ').unwrap();
            let (name, figure) = line.rsplit_once(' ').unwrap();
            let expected: u64 = expected.parse().unwrap();
            assert_eq!(sum(&report, name, figure), expected, "{line}");
        }
        assert_eq!(report["unrecorded_calls"], 0);
    }

    /// Builds the program and returns its path.
    fn program(&self) -> PathBuf {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("companions");
        let triple = triple();
        let output = Command::new(env!("CARGO"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("companions"))
            .args(["build", "--quiet", "--locked", "--release"])
            // With an explicit target, the flags apply to the program alone and not to procedural macros.
            .args(["--target", &triple, "--features", self.features])
            .args(self.profile.iter().flat_map(|line| ["--config", line]))
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", self.flags)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{err}");
        let program = target.join(self.name);
        fs::copy(target.join(triple).join("release/companions"), &program).unwrap();
        program
    }
}

/// The target of these tests: the one that cargo was told to build for, or else the compiler's own.
fn triple() -> String {
    if let Ok(target) = std::env::var("CARGO_BUILD_TARGET") {
        return target;
    }
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

/// The sum of a figure over all rows of that name. Each instantiation of a generic function has a row of its own.
fn sum(report: &Value, name: &str, figure: &str) -> u64 {
    let rows = report["callsites"].as_array().unwrap().iter();
    rows.filter(|row| {
        let rest = row["name"].as_str().unwrap().strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ["))
    })
    .map(|row| row[figure].as_u64().unwrap_or(0))
    .sum()
}

#[test]
fn optimised_as_a_whole_and_without_unwinding() {
    Build {
        name: "lto",
        profile: &[
            "profile.release.lto = 'fat'",
            "profile.release.codegen-units = 1",
            "profile.release.panic = 'abort'",
        ],
        ..Build::default()
    }
    .check();
}

#[test]
fn small_and_static() {
    // The linker's driver prints the name as it is if there is no such file.
    let mut driver = Command::new("cc");
    let found = driver.arg("-print-file-name=libc.a").output().unwrap();
    if triple().ends_with("-gnu") && found.stdout.trim_ascii() == b"libc.a" {
        return tests::skipped("there is no static libc");
    }
    Build {
        name: "static",
        profile: &["profile.release.opt-level = 'z'"],
        flags: "-C target-feature=+crt-static",
        ..Build::default()
    }
    .check();
}

/// The program uses tokio, rayon and crossbeam, and is built with each allocator.
#[test]
#[ignore = "builds other people's crates, in C too, for minutes: .ci/more/companions does"]
fn beside_what_others_run() {
    for (name, features) in [
        ("companions", "companions"),
        ("jemalloc", "companions,jemalloc"),
        ("mimalloc", "companions,mimalloc"),
    ] {
        Build {
            name,
            features,
            ..Build::default()
        }
        .check();
    }
    for (name, profile) in [
        ("companions-abort", "profile.release.panic = 'abort'"),
        ("companions-lto", "profile.release.lto = 'fat'"),
        ("companions-z", "profile.release.opt-level = 'z'"),
    ] {
        Build {
            name,
            features: "companions",
            profile: &[profile],
            ..Build::default()
        }
        .check();
    }
}
