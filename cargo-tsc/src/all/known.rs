//! The probes that were chosen for the last run. If the sources and the program's arguments are the same, they need not be chosen, and built,
//! again.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::choice::Choice;
use super::remembered;

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
        let contents: Contents = remembered::read(&self.path)?;
        (contents.of == self.of).then_some(contents.choice)
    }

    /// The last choice, whatever it was made for.
    #[must_use]
    pub fn last(all: &Path) -> Choice {
        let last = remembered::read_any(&all.join(FILE));
        last.map_or_else(Choice::default, |contents: Contents| contents.choice)
    }

    /// Saves a choice.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, choice: Choice) -> Result<()> {
        let of = self.of;
        remembered::write(&self.path, &Contents { of, choice })
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
