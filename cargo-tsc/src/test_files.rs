//! The files of tests.

use std::fs;
use std::path::Path;

/// Writes a file, and makes the folders around it.
pub(crate) fn write(file: &Path, contents: impl AsRef<[u8]>) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, contents).unwrap();
}
