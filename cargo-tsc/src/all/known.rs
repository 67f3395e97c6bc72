//! The probes that were chosen for the last run. If the sources and the program's arguments are the same, they need not be chosen, and built,
//! again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::choice::Choice;
use crate::output;

/// The file, in the folder of the copies.
const FILE: &str = "choice.json";

/// The place of a choice.
#[derive(Debug)]
pub struct Known {
    path: PathBuf,
    /// A digest of what the choice depends on.
    of: u64,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    /// The version of this program. Another one may choose otherwise.
    by: String,
    of: u64,
    choice: Choice,
}

impl Known {
    /// The place in the folder of all copies.
    #[must_use]
    pub fn new(all: &Path, of: u64) -> Self {
        Self {
            path: all.join(FILE),
            of,
        }
    }

    /// The choice, if it was made for the same.
    #[must_use]
    pub fn read(&self) -> Option<Choice> {
        let contents = self.contents()?;
        let is_same = contents.of == self.of && contents.by == env!("CARGO_PKG_VERSION");
        is_same.then_some(contents.choice)
    }

    /// The last choice, whatever it was made for.
    #[must_use]
    pub fn last(all: &Path) -> Choice {
        let last = Self::new(all, 0).contents();
        last.map_or_else(Choice::default, |contents| contents.choice)
    }

    fn contents(&self) -> Option<Contents> {
        serde_json::from_slice(&fs::read(&self.path).ok()?).ok()
    }

    /// Saves a choice.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, choice: Choice) -> Result<()> {
        let contents = Contents {
            by: env!("CARGO_PKG_VERSION").to_owned(),
            of: self.of,
            choice,
        };
        output::write(&self.path, serde_json::to_string(&contents)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_for_the_same_sources() {
        let dir = tempfile::tempdir().unwrap();
        let known = Known::new(dir.path(), u64::MAX);
        assert_eq!(known.read(), None);
        known.write(Choice::default()).unwrap();
        assert_eq!(known.read(), Some(Choice::default()));
        assert_eq!(Known::new(dir.path(), 1).read(), None);
        assert_eq!(Known::last(dir.path()), Choice::default());
    }
}
