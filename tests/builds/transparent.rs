//! A small part of `studies/transparency`, which runs with the tests that build programs.

#[allow(dead_code)] // the table shows how long a run took; a test does not ask
#[path = "../../studies/transparency/src/project.rs"]
#[allow(unreachable_pub, missing_docs)] // a tool's own module
mod project;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_tsc::annotate::Where;
use project::Project;

const CRATE: &str = "num-traits";

/// The folder with the crate's source. Only this platform's dependencies are requested, because no test has fetched the others.
fn source() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(["--filter-platform", &host()])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages
        .iter()
        .find(|package| package["name"] == CRATE)
        .unwrap();
    Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("")
}

/// The platform that the tests run on.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc -vV names the host").to_owned()
}

#[test]
fn a_crate_that_does_not_know_the_attribute_passes_its_tests_under_it() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transparent");
    let source = source();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let run = |form: &str, place| {
        let project = Project::copy(&source, &scratch.join(form), place).unwrap();
        // Use the versions with which this workspace was built. They are present already, so no network is needed.
        fs::copy(&lock, scratch.join(form).join("Cargo.lock")).unwrap();
        let outcome = project.test(false, false, &scratch.join("target")).unwrap();
        assert_eq!(outcome.build_errors, "", "{form}");
        (outcome.passed, outcome.failed, project.attributes)
    };
    let (passed, failed, _) = run("bare", None);
    assert!(!passed.is_empty());
    for (form, place) in [("functions", Where::Functions), ("blocks", Where::Blocks)] {
        let annotated = run(form, Some(place));
        assert_eq!((&annotated.0, &annotated.1), (&passed, &failed), "{form}");
        assert!(annotated.2 > 50, "{form}: {} attributes", annotated.2);
    }
}
