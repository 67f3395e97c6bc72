//! The program `programs/sandboxed` on other targets than the one of these tests. A test prints that it was skipped if what it needs is not
//! installed.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::PathBuf;
use std::process::Command;

use tests::program;
use tests::sandboxed::{Run, installed};

/// Builds a program for a target, with these environment variables. If the target is not installed, prints that the test is skipped.
fn built_for(target: &str, name: &str, variables: [(&str, &str); 1]) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(target);
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--bin", name, "--target", target])
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .env("CARGO_TARGET_DIR", &folder)
        .envs(variables)
        .output()
        .unwrap_or_else(|error| panic!("cargo: {error}"));
    let why = tests::text(&output.stderr);
    if why.contains("target may not be installed") || why.contains("`rust-lld` not found") {
        tests::skipped(&format!("{target} is not installed, or rust-lld"));
        return None;
    }
    assert!(output.status.success(), "{why}");
    Some(folder.join(target).join("debug").join(name))
}

/// Builds the child for another target, with the toolchain's own linker and C library.
fn child_for(target: &str) -> Option<PathBuf> {
    let linker = format!(
        "CARGO_TARGET_{}_LINKER",
        target.to_uppercase().replace('-', "_")
    );
    built_for(target, "sandboxed", [(&linker, "rust-lld")])
}

/// Where functions may use the registers of APX, no call says that it keeps the general registers. The program is not run, because few CPUs have
/// these.
#[test]
fn registers_of_apx_are_not_lost() {
    for (flags, are_others_kept) in [("", true), ("-Ctarget-feature=+egpr", false)] {
        // With a target of their own, build scripts and macros are built without the flags.
        let target = "x86_64-unknown-linux-gnu";
        let Some(program) = built_for(target, "attacks", [("RUSTFLAGS", flags)]) else {
            return;
        };
        let program = std::fs::read(program).unwrap();
        let name = b"start_keeping";
        let has_keeper = program.windows(name.len()).any(|bytes| bytes == name);
        assert_eq!(has_keeper, are_others_kept, "{flags}");
    }
}

#[test]
fn c_library_without_rseq_is_stood_in_for() {
    let Some(child) = child_for("x86_64-unknown-linux-musl") else {
        return;
    };
    let run = Run::of(&mut program(&child));
    run.assert_complete();
    run.assert_found("interruptions", "", "detected (rseq)");
    assert!(!run.report.contains("not detected"), "{}", run.report);
}

#[test]
fn other_architecture_reads_its_own_counter() {
    let Some(qemu) = installed(&["qemu-aarch64", "qemu-aarch64-static"]) else {
        return;
    };
    let Some(child) = child_for("aarch64-unknown-linux-musl") else {
        return;
    };
    let run = Run::of(program(&qemu).args(["-cpu", "cortex-a72"]).arg(&child));
    run.assert_complete();
    assert!(run.report.contains("CNTVCT_EL0 "), "{}", run.report);
    run.assert_found("counter", "", "CNTVCT_EL0, with an ISB");
    assert!(
        run.report.contains("interruptions: not detected"),
        "{}",
        run.report
    );
    run.assert_found("emulation", "", "QEMU");
    // The newest CPU that this QEMU emulates has FEAT_ECV, if QEMU is 9.0 or later.
    let version = Command::new(&qemu).arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout);
    let major = version
        .split_once("version ")
        .and_then(|(_, version)| version.split('.').next()?.parse::<u32>().ok());
    if major.is_none_or(|major| major < 9) {
        tests::skipped(&format!("FEAT_ECV needs QEMU 9.0 or later: {version}"));
        return;
    }
    let run = Run::of(program(&qemu).args(["-cpu", "max"]).arg(&child));
    run.assert_complete();
    run.assert_found("counter", "", "CNTVCTSS_EL0, which needs no ISB");
}
