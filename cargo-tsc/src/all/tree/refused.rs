//! The functions and files that do not compile with attributes, so that this is tried once for each text of a file.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::output;

/// The file, in the folder of the copies.
const FILE: &str = "refused.json";

/// What the compiler has refused.
#[derive(Debug)]
pub(super) struct Refused {
    path: PathBuf,
    known: Known,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Known {
    /// The version of this program. Another one may annotate otherwise.
    by: String,
    places: Vec<Place>,
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
    pub(super) fn read(all: &Path) -> Self {
        let path = all.join(FILE);
        let by = env!("CARGO_PKG_VERSION");
        let known = fs::read(&path).ok();
        let known = known.and_then(|text| serde_json::from_slice::<Known>(&text).ok());
        let places = known.filter(|known| known.by == by);
        let known = Known {
            by: by.to_owned(),
            places: places.unwrap_or_default().places,
        };
        Self { path, known }
    }

    /// The lines of the refused functions of a file with this text, and the compiler's errors.
    pub(super) fn of(&self, file: &Path, text: &str) -> Vec<(u32, String)> {
        let of = digest(text);
        let places = self.known.places.iter();
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
        self.known
            .places
            .retain(|place| place.file != file || place.of == digest(&text));
        self.known.places.push(Place {
            file: file.to_owned(),
            of: digest(&text),
            line,
            error: error.to_owned(),
        });
        output::write(&self.path, serde_json::to_string_pretty(&self.known)?)?;
        Ok(true)
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
