//! The newest version of a crate, fetched by cargo.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// The version and the folder of crate `name`.
pub fn newest(name: &str, scratch: &Path) -> io::Result<(String, PathBuf)> {
    let dir = scratch.join("fetch").join(name);
    fs::create_dir_all(dir.join("src"))?;
    fs::write(dir.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{name} = \"*\"\n\n[workspace]\n"
    );
    fs::write(dir.join("Cargo.toml"), manifest)?;
    let output = Command::new("cargo")
        .current_dir(&dir)
        .args(["metadata", "--format-version", "1"])
        .output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))?;
    let package = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|package| package["name"] == name));
    let text = |key: &str| {
        package
            .and_then(|package| package[key].as_str())
            .map(str::to_owned)
    };
    match (text("version"), text("manifest_path")) {
        (Some(version), Some(manifest)) => Ok((version, Path::new(&manifest).with_file_name(""))),
        _ => Err(io::Error::other(format!(
            "cargo metadata does not know {name}"
        ))),
    }
}
