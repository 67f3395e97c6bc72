//! Finding and reading the files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tsc_runtime::cycles;

/// Directories without sources.
const SKIPPED: [&str; 2] = ["target", ".git"];

/// All files below `paths`, in a fixed order.
pub(crate) fn below(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        walk(path, &mut files).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?;
    if kind.is_file() {
        files.push(path.to_owned());
    } else if kind.is_dir() && !SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
        for entry in fs::read_dir(path)? {
            walk(&entry?.path(), files)?;
        }
    }
    Ok(())
}

/// A whole file.
#[cycles]
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}
