//! The newest version of a crate, fetched by cargo.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

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
        // Cargo fetches a package without a library, but then does not list it.
        _ => program(name, &dir)?.ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            io::Error::other(format!("cargo metadata does not know {name}: {said}"))
        }),
    }
}

/// The version in the lock file, and where cargo unpacked it.
fn program(name: &str, dir: &Path) -> io::Result<Option<(String, PathBuf)>> {
    let lock = fs::read_to_string(dir.join("Cargo.lock"))?;
    let entry = format!("name = \"{name}\"\nversion = \"");
    let Some((_, rest)) = lock.split_once(&entry) else {
        return Ok(None);
    };
    let version = rest.split('"').next().unwrap_or_default();
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let Some(home) = home else {
        return Ok(None);
    };
    for registry in fs::read_dir(home.join("registry/src"))? {
        let folder = registry?.path().join(format!("{name}-{version}"));
        if folder.join("Cargo.toml").exists() {
            return Ok(Some((version.to_owned(), folder)));
        }
    }
    Ok(None)
}
