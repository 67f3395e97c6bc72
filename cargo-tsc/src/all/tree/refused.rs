//! The functions and files that do not compile with attributes, so that this is tried once for each text of a file.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::all::remembered;

/// The file, in the folder of the copies.
const FILE: &str = "refused.json";

/// What the compiler has refused.
#[derive(Debug)]
pub struct Refused {
    path: PathBuf,
    places: Places,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Places {
    list: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    file: PathBuf,
    /// A digest of the file's text.
    of: u64,
    /// A line of the function; 0 for the whole file.
    line: u32,
    error: String,
}

impl Refused {
    /// What earlier runs have found out.
    #[must_use]
    pub fn read(all: &Path) -> Self {
        let path = all.join(FILE);
        let places = remembered::read(&path).unwrap_or_default();
        Self { path, places }
    }

    /// The lines of the refused functions of a file with this text, and the compiler's errors.
    #[must_use]
    pub fn of(&self, file: &Path, text: &str) -> Vec<(u32, String)> {
        let of = digest(text);
        let places = self.places.list.iter();
        let here = places.filter(|place| place.file == file && place.of == of);
        here.map(|place| (place.line, place.error.clone()))
            .collect()
    }

    /// Remembers the function with this line or, if it is known already, the whole file. Returns false if that is known, too.
    ///
    /// # Errors
    /// If the file cannot be read, or the list cannot be written.
    pub(super) fn add(&mut self, file: &Path, line: u32, error: &str) -> Result<bool> {
        let text = fs::read_to_string(file)?;
        let known = self.of(file, &text);
        let is_known = |line: u32| known.iter().any(|(known, _)| *known == line);
        let Some(line) = [line, 0].into_iter().find(|&line| !is_known(line)) else {
            return Ok(false);
        };
        let (of, places) = (digest(&text), &mut self.places.list);
        places.retain(|place| place.file != file || place.of == of);
        places.push(Place {
            file: file.to_owned(),
            of,
            line,
            error: error.to_owned(),
        });
        remembered::write(&self.path, &self.places)?;
        Ok(true)
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
