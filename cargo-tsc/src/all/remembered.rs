//! What a run finds out for later ones, in a file of the folder of the copies. It holds for what it depends on, of which the file has a
//! digest. Another version of this program may find out something else.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::Path;

use anyhow::Result;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::output;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize, Deserialize)]
struct Contents<T> {
    /// A digest of the version of this program, and of what else it depends on.
    of: u64,
    what: T,
}

/// What this version has written for the same `of`.
#[must_use]
pub fn read<T: DeserializeOwned>(path: &Path, of: u64) -> Option<T> {
    let contents = contents(path)?;
    (contents.of == digest((VERSION, of))).then_some(contents.what)
}

/// What was written last, whatever it depends on.
#[must_use]
pub fn read_any<T: DeserializeOwned>(path: &Path) -> Option<T> {
    contents(path).map(|contents| contents.what)
}

/// A number by which a later run recognises a text or a path.
#[must_use]
pub fn digest(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

fn contents<T: DeserializeOwned>(path: &Path) -> Option<Contents<T>> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes it.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, of: u64, what: &impl Serialize) -> Result<()> {
    let of = digest((VERSION, of));
    let contents = Contents { of, what };
    output::write(path, serde_json::to_string_pretty(&contents)?)
}
