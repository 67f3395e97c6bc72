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

/// `cargo binstall` finds what `.ci/more/binary` makes of a build.
#[cfg(unix)]
#[test]
fn prebuilt_program_is_where_binstall_looks() {
    let packages = published();
    let has_binstall = |package: &&Value| package["metadata"]["binstall"].is_object();
    let package = packages.iter().find(has_binstall).expect("one has it");
    let binstall = &package["metadata"]["binstall"];
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    for (target, suffix) in [
        ("x86_64-unknown-linux-gnu", ""),
        ("x86_64-pc-windows-msvc", ".exe"),
    ] {
        let filled = |pattern: &Value| {
            text(pattern)
                .replace("{ name }", &text(&package["name"]))
                .replace("{ version }", &text(&package["version"]))
                .replace("{ target }", target)
                .replace("{ bin }", "cargo-tsc")
                .replace("{ binary-ext }", suffix)
        };
        let program = filled(&binstall["bin-dir"]);
        let (archive, files) = archive_of(target, &program);
        let url = format!(
            "{{ repo }}/releases/download/v{}/{archive}",
            text(&package["version"])
        );
        assert_eq!(filled(&binstall["pkg-url"]), url);
        assert_eq!((&binstall["pkg-fmt"], files), (&"tgz".into(), program));
    }
}

/// What `.ci/more/binary` makes, and the files in it. A file with the name of the program takes the place of the build.
#[cfg(unix)]
fn archive_of(target: &str, program: &str) -> (String, String) {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("binary-{target}"));
    let built = work.join("target").join(target).join("release");
    let made = work.join("target/release-files");
    // The script's folder is that of the copy.
    let script = work.join(".ci/more/binary");
    let _ = fs::remove_dir_all(&work);
    for folder in [&built, &work.join(".ci/more"), &work.join("bin")] {
        fs::create_dir_all(folder).expect("a folder can be made");
    }
    let workspace = Path::new(WORKSPACE);
    fs::write(built.join(program), "a program").expect("a file can be written");
    fs::copy(workspace.join("Cargo.toml"), work.join("Cargo.toml")).expect("it can be copied");
    fs::copy(workspace.join(".ci/more/binary"), &script).expect("it can be copied");
    std::os::unix::fs::symlink("/bin/true", work.join("bin/cargo")).expect("a link can be made");

    let path = std::env::var("PATH").expect("there is one");
    let path = format!("{}:{path}", work.join("bin").display());
    let mut command = Command::new(&script);
    command.arg(target).env("PATH", path);
    let output = command.env_remove("CARGO_TARGET_DIR").output();
    let output = output.expect("the script can be started");
    assert!(output.status.success(), "{output:?}");

    let archives: Vec<_> = fs::read_dir(made).expect("a folder").collect();
    let [Ok(archive)] = &archives[..] else {
        panic!("not one file: {archives:?}");
    };
    let mut tar = Command::new("tar");
    let listed = tar.arg("--list").arg("--file").arg(archive.path()).output();
    let listed = listed.expect("tar can be started").stdout;
    let files = String::from_utf8(listed).expect("names are text");
    fs::remove_dir_all(&work).expect("it can be removed");
    let name = archive.file_name().into_string().expect("a name is text");
    (name, files.trim().to_owned())
}
