//! The probes that were chosen for the last run. If the sources and the program's arguments are the same, they need not be chosen, and built,
//! again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::choice::Choice;
use super::remembered;
use crate::annotate;

/// The file, in the folder of the copies.
const FILE: &str = "choice.json";

/// The annotated files, each with a digest of its text.
pub type FileDigests = BTreeMap<PathBuf, u64>;

/// A digest of a file's text. The attributes that `cargo tsc annotate` adds do not change it.
#[must_use]
pub fn digest_of_code(text: &str) -> u64 {
    match annotate::strip(text) {
        Ok((text, _)) => remembered::digest(&*text),
        Err(_) => remembered::digest(text),
    }
}

/// The place of a choice.
#[derive(Debug)]
pub struct Known {
    path: PathBuf,
    /// A digest of what the choice depends on.
    of: u64,
    files: FileDigests,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    files: FileDigests,
    choice: Choice,
}

/// The last choice, whatever it was made for.
pub struct Last(Option<Contents>);

impl Last {
    /// Reads it in the folder of all copies.
    #[must_use]
    pub fn read(all: &Path) -> Self {
        Self(remembered::read_any(&all.join(FILE)))
    }

    /// The choice, if it was made for a file with this text.
    #[must_use]
    pub fn choice(&self, file: &Path, text: &str) -> Option<&Choice> {
        let last = self.0.as_ref();
        let last = last.filter(|last| last.files.get(file) == Some(&digest_of_code(text)));
        last.map(|last| &last.choice)
    }
}

impl Known {
    /// The place in the folder of all copies.
    #[must_use]
    pub fn new(all: &Path, of: u64, files: FileDigests) -> Self {
        Self {
            path: all.join(FILE),
            of,
            files,
        }
    }

    /// The choice, if it was made for the same.
    #[must_use]
    pub fn read(&self) -> Option<Choice> {
        remembered::read(&self.path, self.of).map(|contents: Contents| contents.choice)
    }

    /// Saves a choice.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, choice: Choice) -> Result<()> {
        let files = self.files.clone();
        remembered::write(&self.path, self.of, &Contents { files, choice })
    }

    /// Notes in the saved choice, if there is one, that the program may not end by itself: the next run is to report what it has when a signal
    /// ends it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn forget_end(&self) -> Result<()> {
        let saved = self.read().map(|choice| Choice {
            ends_soon: false,
            ..choice
        });
        saved.map_or(Ok(()), |choice| self.write(choice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all::measured::tests::function;

    #[test]
    fn a_choice_is_for_the_same_sources() {
        let dir = tempfile::tempdir().unwrap();
        let file = Path::new("/app/src/main.rs");
        let files = FileDigests::from([(file.to_owned(), digest_of_code("fn step() {}"))]);
        let known = Known::new(dir.path(), u64::MAX, files.clone());
        assert_eq!(known.read(), None);
        let mut choice = Choice::default();
        choice.bare.push(function("step", 1, 1.0, 1.0));
        known.write(choice.clone()).unwrap();
        assert_eq!(known.read(), Some(choice.clone()));
        assert_eq!(Known::new(dir.path(), 1, files).read(), None);
        let last = Last::read(dir.path());
        let annotated = format!("{}fn step() {{}}", annotate::ATTRIBUTE);
        for text in ["fn step() {}", &annotated] {
            assert_eq!(last.choice(file, text), Some(&choice));
        }
        assert_eq!(last.choice(file, "fn step() { }"), None);
        let other = Path::new("/other/src/main.rs");
        assert_eq!(last.choice(other, "fn step() {}"), None);
    }
}
