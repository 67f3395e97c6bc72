//! The crates that do not compile with attributes, so that this is tried once for each version of a crate, or for each text of its files.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Result;
use cargo_metadata::Package;
use serde::{Deserialize, Serialize};

use crate::all::remembered;

/// The file, in the folder of the copies.
const FILE: &str = "left_out.json";

/// The first error of each such crate.
#[derive(Debug, Default)]
pub struct LeftOut {
    path: PathBuf,
    /// A digest of what decides beside the crates whether they compile.
    with: u64,
    errors: BTreeMap<String, FirstError>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct FirstError {
    error: String,
    /// A digest of the crate's files, if they can change.
    of: Option<u64>,
}

impl LeftOut {
    /// What an earlier run has found out `with` the same toolchain, and with what else decides.
    #[must_use]
    pub fn read(all: &Path, with: u64) -> Self {
        let path = all.join(FILE);
        let errors = remembered::read(&path, with).unwrap_or_default();
        Self { path, with, errors }
    }

    /// Why a package is left out, if it is.
    #[must_use]
    pub fn why(&self, package: &Package) -> Option<&str> {
        let first = self.errors.get(&package.id.repr)?;
        (first.of == digest(package)).then_some(&*first.error)
    }

    /// Adds the first error of a package.
    pub fn add(&mut self, package: &Package, error: &str) {
        let first = FirstError {
            error: error.to_owned(),
            of: digest(package),
        };
        self.errors.insert(package.id.repr.clone(), first);
    }

    /// Keeps all of it for later runs.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self) -> Result<()> {
        remembered::write(&self.path, self.with, &self.errors)
    }
}

/// A digest of the files of a crate that is not from a registry or a commit.
fn digest(package: &Package) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    let folder = package.manifest_path.parent()?.as_std_path();
    let is_fixed = package.source.is_some();
    (!is_fixed && add_files(folder, &mut hasher).is_ok()).then(|| hasher.finish())
}

/// Adds the names and the texts of a folder's sources, in order. Hidden folders and `target` have none.
fn add_files(folder: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                add_files(&path, hasher)?;
            }
        } else if name == "Cargo.toml" || name.ends_with(".rs") {
            name.hash(hasher);
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}
