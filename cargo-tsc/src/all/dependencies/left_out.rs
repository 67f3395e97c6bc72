//! The crates that do not compile with attributes, so that this is tried once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use cargo_metadata::PackageId;
use serde::{Deserialize, Serialize};

use crate::all::remembered;

/// The file, in the folder of the copies.
const FILE: &str = "left_out.json";

/// The first error of each such crate.
#[derive(Debug, Default)]
pub struct LeftOut {
    path: PathBuf,
    errors: Errors,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Errors {
    of: BTreeMap<String, String>,
}

impl LeftOut {
    /// What an earlier run has found out.
    #[must_use]
    pub fn read(all: &Path) -> Self {
        let path = all.join(FILE);
        let errors = remembered::read(&path).unwrap_or_default();
        Self { path, errors }
    }

    /// Why a package is left out, if it is.
    #[must_use]
    pub fn why(&self, id: &PackageId) -> Option<&str> {
        self.errors.of.get(&id.repr).map(String::as_str)
    }

    /// Remembers the first error of a package.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, id: &PackageId, error: &str) -> Result<()> {
        self.errors.of.insert(id.repr.clone(), error.to_owned());
        remembered::write(&self.path, &self.errors)
    }
}
