//! The crates that do not compile with attributes, so that this is tried once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use cargo_metadata::PackageId;
use serde::{Deserialize, Serialize};

use crate::output;

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
    /// The version of this program. Another one may annotate otherwise.
    by: String,
    of: BTreeMap<String, String>,
}

impl LeftOut {
    /// What an earlier run has found out.
    #[must_use]
    pub fn read(all: &Path) -> Self {
        let path = all.join(FILE);
        let by = env!("CARGO_PKG_VERSION");
        let known = fs::read(&path).ok();
        let known = known.and_then(|text| serde_json::from_slice::<Errors>(&text).ok());
        let errors = known.filter(|known| known.by == by).unwrap_or_default();
        Self {
            path,
            errors: Errors {
                by: by.to_owned(),
                ..errors
            },
        }
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
        output::write(&self.path, serde_json::to_string_pretty(&self.errors)?)
    }
}
