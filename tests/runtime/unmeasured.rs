//! Builds in which nothing is measured print nothing, and a requested report says why it is empty.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that calls an annotated function, and asks for a report if it has an argument.
const REPORTS: &str = "#[tsc_runtime::cycles]\nfn work() {}\n\
                       fn main() {\n    work();\n    for _ in std::env::args().skip(1) {\n        tsc_runtime::report();\n    }\n}\n";

/// Creates a project with `program`.
fn project(name: &str, dependency: &str, program: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("src")).expect("the target folder can be written to");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\ntsc-runtime = {{ path = {:?}{dependency} }}\n",
        workspace.join("tsc-runtime")
    );

    fs::write(folder.join("Cargo.toml"), manifest).expect("the file can be written");
    fs::write(folder.join("src/main.rs"), program).expect("the file can be written");
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock"))
        .expect("there is a lock file");
    folder
}

/// Runs the program and returns what it prints on stderr.
fn stderr(folder: &Path, profile: &[&str], arguments: &[&str]) -> String {
    let run = |command: &mut Command| {
        let output = command.output().expect("the program starts");
        let text = String::from_utf8(output.stderr).expect("the output is UTF-8");
        assert!(output.status.success(), "{text}");
        assert!(output.stdout.is_empty());
        text
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unmeasured");
    run(Command::new(env!("CARGO"))
        .args(["build", "--quiet"])
        .args(profile)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS"));
    let name = folder.file_name().expect("the folder has a name");
    let profile = if profile.is_empty() {
        "debug"
    } else {
        "release"
    };
    run(Command::new(tests::built(&target, profile).join(name))
        .args(arguments)
        .env("TSC_REPORT", "full")
        .env_remove("TSC_REPORT_FILE"))
}

#[test]
fn report_says_why_there_is_none() {
    let off = project("without_features", ", default-features = false", REPORTS);
    assert_eq!(stderr(&off, &[], &[]), "");
    assert_eq!(
        stderr(&off, &[], &["report", "again"]),
        "tsc: nothing was measured: tsc-runtime was built with neither `debug-builds` nor `release-builds`\n"
    );
    let release = project("without_release_builds", "", REPORTS);
    assert_eq!(stderr(&release, &["--release"], &[]), "");
    let text = stderr(&release, &["--release"], &["report"]);
    assert!(
        text.starts_with("tsc: nothing was measured: ")
            && text.contains("the feature `release-builds`"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// With the feature `on` alone there is a runtime, but annotated functions are compiled as if they had no attribute.
#[test]
fn report_of_a_runtime_that_measures_no_function_says_so() {
    let on = project(
        "without_a_gate",
        ", default-features = false, features = [\"on\"]",
        REPORTS,
    );
    for profile in [&[][..], &["--release"]] {
        assert_eq!(stderr(&on, profile, &[]), "");
        assert_eq!(
            stderr(&on, profile, &["report"]),
            "tsc: nothing was measured: tsc-runtime was built with neither `debug-builds` nor `release-builds`\n"
        );
    }
}

/// If a function needs a feature that is not enabled, the compiler's error names the feature.
#[test]
fn function_of_a_missing_feature_names_it() {
    for (name, call, feature) in [
        ("measure", "measure(\"17\", || 17)", "instruments"),
        ("self_test", "self_test()", "on"),
        ("core", "instruction::microarchitecture()", "instructions"),
    ] {
        let program = format!("fn main() {{\n    let _ = tsc_runtime::{call};\n}}\n");
        let check = |features: &str| {
            let folder = project(&format!("feature_of_{name}"), features, &program);
            let output = Command::new(env!("CARGO"))
                .args(["check", "--quiet", "--color", "never"])
                .current_dir(folder)
                .env(
                    "CARGO_TARGET_DIR",
                    Path::new(env!("CARGO_TARGET_TMPDIR")).join("unmeasured"),
                )
                .env_remove("RUSTFLAGS")
                .output()
                .expect("cargo starts");
            let text = String::from_utf8(output.stderr).expect("the output is UTF-8");
            (output.status.success(), text)
        };
        let (passed, text) = check(", default-features = false");
        assert!(!passed, "{name}");
        assert!(
            text.contains(&format!("the item is gated behind the `{feature}` feature")),
            "{text}"
        );
        let (passed, text) = check(&format!(
            ", default-features = false, features = [\"{feature}\"]"
        ));
        assert!(passed, "{text}");
    }
}
