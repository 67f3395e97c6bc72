//! Tests that the published packages are complete: their metadata, and the files that they refer to.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The packages that may be published, as cargo understands their manifests.
fn published() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .current_dir(WORKSPACE)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let Value::Array(mut packages) = metadata["packages"].take() else {
        panic!("no packages in {metadata}");
    };
    packages.retain(|package| package["publish"].is_null());
    assert!(packages.len() >= 2, "{packages:?}");
    packages
}

/// The folder of a package.
fn folder(package: &Value) -> &Path {
    let manifest = package["manifest_path"].as_str().expect("it is a path");
    Path::new(manifest).parent().expect("it is in a folder")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn metadata_is_complete() {
    for package in published() {
        let name = &package["name"];
        for key in [
            "description",
            "documentation",
            "license",
            "readme",
            "rust_version",
        ] {
            assert!(package[key].is_string(), "{name} has no {key}");
        }
        for key in ["categories", "keywords"] {
            let number = package[key].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&number), "{name} has {number} {key}");
        }
    }
}

#[test]
fn packages_carry_their_texts() {
    for package in published() {
        let folder = folder(&package);
        let readme = package["readme"].as_str().unwrap_or_default();
        assert!(
            !readme.contains("..") && folder.join(readme).is_file(),
            "{readme} is not in {}",
            folder.display()
        );
        for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
            is_the_projects(&folder.join(license), license);
        }
    }
}

#[test]
fn package_of_reports_has_the_schema() {
    let packaged = Path::new(WORKSPACE).join("tsc-report/dump.schema.json");
    is_the_projects(&packaged, "docs/dump.schema.json");
}

/// What a package contains is a symbolic link, which packaging follows.
fn is_the_projects(packaged: &Path, name: &str) {
    assert!(
        read(packaged) == read(&Path::new(WORKSPACE).join(name)),
        "{} is not the project's {name}: is it no symbolic link? git config core.symlinks true",
        packaged.display()
    );
}

#[test]
fn readme_of_the_runtime_is_that_of_the_project() {
    let packaged = Path::new(WORKSPACE).join("tsc-runtime/README.md");
    is_the_projects(&packaged, "README.md");
}
