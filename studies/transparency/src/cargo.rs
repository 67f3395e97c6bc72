//! How and where the tools here run cargo.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A folder for a tool's programs. The path is absolute, because cargo runs in the copies' folders.
pub fn scratch(tool: &str) -> io::Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
    std::path::absolute(target.join(tool))
}

/// Builds the package in `folder` for release.
pub fn build_release(folder: &Path, target: &Path) -> io::Result<()> {
    let output = Command::new("cargo")
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        // As cargo does for dependencies: what lints say of other people's code is nothing to fail for.
        .env("RUSTFLAGS", "--cap-lints=allow")
        .args(["build", "--quiet", "--release"])
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(said.into_owned()))
}

/// Installs `cargo tsc` as the documentation says, into a folder of its own. Returns the executable.
pub fn install(scratch: &Path) -> io::Result<PathBuf> {
    let root = scratch.join("root");
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cargo-tsc");
    let status = Command::new("cargo")
        .args(["install", "--quiet", "--force", "--path"])
        .arg(package)
        .arg("--root")
        .arg(&root)
        .arg("--target-dir")
        .arg(scratch.join("install"))
        .status()?;
    if !status.success() {
        return Err(io::Error::other("cargo install failed"));
    }
    Ok(root.join("bin/cargo-tsc"))
}

/// The only program in a folder with cargo's results.
pub fn executable(folder: &Path) -> io::Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // The folder also contains a library, a list of the program's sources, and files of cargo.
        if path.is_file() && path.extension().is_none() && !is_hidden(&path) {
            return Ok(path);
        }
    }
    Err(io::Error::other(format!(
        "no program in {}",
        folder.display()
    )))
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'))
}
