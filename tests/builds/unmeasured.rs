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
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
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

/// Cargo in the project's folder. All projects share what is built.
fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(arguments)
        .args(["--quiet", "--color", "never"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        // What is measured depends on debug assertions, and not on how code is optimised, which takes long.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env_remove("RUSTFLAGS");
    cargo
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("unmeasured")
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
    run(cargo(folder, &["build"]).args(profile));
    let name = folder.file_name().expect("the folder has a name");
    let profile = if profile.is_empty() {
        "debug"
    } else {
        "release"
    };
    run(tests::program(tests::built(&target(), profile).join(name))
        .args(arguments)
        .env("TSC_REPORT", "full"))
}

#[test]
fn report_says_why_there_is_none() {
    let off = project("without_features", ", default-features = false", REPORTS);
    assert_eq!(stderr(&off, &[], &[]), "");
    assert_eq!(
        stderr(&off, &[], &["report", "again"]),
        "tsc: nothing was measured: tsc-runtime was built with neither `debug-builds` nor `release-builds`\n"
    );
    let silent = tests::program(tests::built(&target(), "debug").join("without_features"))
        .arg("report")
        .env("TSC_REPORT", "off")
        .output()
        .expect("the program starts");
    assert_eq!(String::from_utf8_lossy(&silent.stderr), "");
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

/// Calls what a program may call whether anything is measured or not.
const EVERYTHING: &str = r##"
use tsc_runtime::{TextOptions, affinity, snapshot};

fn main() {
    tsc_runtime::reset();
    tsc_runtime::pause();
    tsc_runtime::resume();
    let session = tsc_runtime::session();
    let mut report = session.report();
    drop(session);
    report.merge(&tsc_runtime::take()).expect("they are alike");
    assert!(report.callsites().is_empty());
    assert!(report.since(&snapshot()).is_some());
    assert!(report.to_openmetrics().ends_with("# EOF\n"));
    assert!(!report.to_prometheus().contains("# EOF"));
    assert!(affinity::cpus().is_ok_and(|cpus| !cpus.is_empty()));
    let file = std::env::temp_dir().join(format!("unmeasured.{}", std::process::id()));
    tsc_runtime::dump_to(&file).expect("a temporary file can be written");
    let dumped = std::fs::read_to_string(&file).expect("it has been written");
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(dumped, snapshot().to_string());
    eprint!("{}", report.to_text(&TextOptions::default()));
}
"##;

#[test]
fn public_functions_exist_where_nothing_is_measured() {
    let neither = "neither `debug-builds` nor `release-builds`";
    let release = "the feature `release-builds`";
    for (name, features, reason) in [
        ("off", ", default-features = false", neither),
        (
            "off_json",
            ", default-features = false, features = [\"json\"]",
            neither,
        ),
        ("release", "", release),
        ("release_json", ", features = [\"json\"]", release),
        ("release_on", ", features = [\"on\"]", release),
    ] {
        let program = project(&format!("everything_{name}"), features, EVERYTHING);
        let text = stderr(&program, &["--release"], &[]);
        assert!(text.contains(reason), "{name}: {text}");
        for line in text.lines() {
            assert!(
                line.starts_with("tsc: nothing was measured: "),
                "{name}: {text}"
            );
        }
    }
}

/// In a `dev` profile without debug assertions for dependencies, the program has them, and is measured.
#[test]
fn program_is_measured_although_its_dependencies_have_no_debug_assertions() {
    let program = project("fewer_assertions", "", REPORTS);
    add_profile(&program, "dev.package.\"*\"", "false");
    let text = stderr(&program, &[], &["report"]);
    assert!(text.contains("\n:CLK: work "), "{text}");
}

/// A profile gives debug assertions to a single crate of a release build, which is compiled without the runtime.
#[test]
fn crate_that_has_debug_assertions_without_the_runtime_is_told_what_to_do() {
    let build = |features: &str| {
        let program = project("more_assertions", features, REPORTS);
        add_profile(&program, "release.package.more_assertions", "true");
        let output = cargo(&program, &["run", "--release"])
            .args(["--", "report"])
            .output()
            .expect("cargo starts");
        String::from_utf8(output.stderr).expect("the output is UTF-8")
    };
    let text = build("");
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("error: tsc-runtime was built without debug assertions")
            && first.contains("enable its feature `on`"),
        "{text}"
    );
    assert!(build(", features = [\"on\"]").contains("\n:CLK: work "));
}

/// Sets the debug assertions of a profile.
fn add_profile(project: &Path, profile: &str, assertions: &str) {
    let manifest = project.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("it was written");
    let text = format!("{text}[profile.{profile}]\ndebug-assertions = {assertions}\n");
    fs::write(manifest, text).expect("the file can be written");
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
        ("budget", "assert_ticks!(p50 <= 1e9, 17)", "instruments"),
        ("self_test", "self_test()", "on"),
        ("core", "instruction::microarchitecture()", "instructions"),
    ] {
        let program = format!("fn main() {{\n    let _ = tsc_runtime::{call};\n}}\n");
        let check = |features: &str| {
            let folder = project(&format!("feature_of_{name}"), features, &program);
            let output = cargo(&folder, &["check"]).output().expect("cargo starts");
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

#[test]
fn rustdoc_shows_an_async_function_as_written() {
    let program = "#[tsc_runtime::cycles]\npub async fn fetch() {}\nfn main() {}\n";
    let folder = project("documented", "", program);
    let output = cargo(&folder, &["doc", "--no-deps"]).output();
    let output = output.expect("cargo starts");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let page = target().join("doc/documented/fn.fetch.html");
    let page = fs::read_to_string(page).expect("the page has been written");
    assert!(
        page.contains("async fn") && !page.contains("Future"),
        "{page}"
    );
}
