//! Packages from npm that tests use.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the unpacked package, such as `speedscope-1.25.0`, or the reason why there is none. It is fetched once.
pub(crate) fn package(name: &str) -> Result<PathBuf, String> {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm");
    let package = kept.join(name);
    if package.join("package.json").exists() {
        return Ok(package);
    }
    fs::create_dir_all(&kept).unwrap();
    let work = tempfile::tempdir_in(&kept).unwrap();
    let ends = |command: &mut Command| match command.current_dir(work.path()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    };
    let version = name.replace('-', "@");
    ends(Command::new("npm").args(["pack", "--fetch-retries=0", &version]))
        .map_err(|why| format!("npm does not fetch {version}: {}", why.trim()))?;
    ends(Command::new("tar").args(["xzf", &format!("{name}.tgz")]))?;
    // Other tests may fetch the package at the same time. Only the first rename succeeds.
    let _ = fs::rename(work.path().join("package"), &package);
    Ok(package)
}
