//! The functions and files that do not compile with attributes, so that this is tried once for each text of a file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::all::remembered::{self, digest};
use crate::annotate::Function;

/// The file, in the folder of the copies.
const FILE: &str = "refused.json";

/// What the compiler has refused.
#[derive(Clone, Debug)]
pub struct Refused {
    path: PathBuf,
    /// A digest of what decides beside the files whether they compile.
    with: u64,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    file: PathBuf,
    /// A digest of the file's text.
    of: u64,
    /// A line of the function; 0 for the whole file.
    line: u32,
    error: String,
}

impl Refused {
    /// What the last run has found out.
    #[must_use]
    pub fn last(all: &Path) -> Self {
        let path = all.join(FILE);
        let entries = remembered::read_any(&path).unwrap_or_default();
        let with = 0;
        Self {
            path,
            with,
            entries,
        }
    }

    /// What earlier runs have found out `with` the same toolchain, and with what else decides.
    pub(super) fn read(all: &Path, with: u64) -> Self {
        let path = all.join(FILE);
        let entries = remembered::read(&path, with).unwrap_or_default();
        Self {
            path,
            with,
            entries,
        }
    }

    /// What is refused of a file with this text.
    #[must_use]
    pub fn of(&self, file: &Path, text: &str) -> RefusedHere {
        let of = digest(text);
        let entries = self.entries.iter();
        let here = entries.filter(|entry| entry.file == file && entry.of == of);
        RefusedHere(here.cloned().collect())
    }

    /// Adds the function with this line or, if it is known already, the whole file. Returns false if that is known, too.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn add(&mut self, file: &Path, line: u32, error: &str) -> Result<bool> {
        let text = fs::read_to_string(file)?;
        let known = self.of(file, &text);
        let is_known = |line: u32| known.0.iter().any(|entry| entry.line == line);
        let Some(line) = [line, 0].into_iter().find(|&line| !is_known(line)) else {
            return Ok(false);
        };
        let of = digest(&text);
        self.entries
            .retain(|entry| entry.file != file || entry.of == of);
        self.entries.push(Entry {
            file: file.to_owned(),
            of,
            line,
            error: error.to_owned(),
        });
        Ok(true)
    }

    /// Keeps all of it for later runs.
    ///
    /// # Errors
    /// If the list cannot be written.
    pub(super) fn write(&self) -> Result<()> {
        remembered::write(&self.path, self.with, &self.entries)
    }
}

/// What is refused of one file.
#[derive(Debug)]
pub struct RefusedHere(Vec<Entry>);

impl RefusedHere {
    /// Whether the function is refused, alone or with its file.
    #[must_use]
    pub fn has(&self, function: &Function) -> bool {
        let mut lines = self.0.iter().map(|entry| entry.line);
        lines.any(|line| line == 0 || function.lines.contains(&line))
    }

    /// A sentence for each, with the compiler's error.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|entry| {
            let file = entry.file.display();
            let at = match entry.line {
                0 => file.to_string(),
                line => format!("{file}:{line}"),
            };
            let error = &entry.error;
            format!("{at}: left as it is, because it does not compile with an attribute: {error}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_refused_again_stands_for_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.rs");
        fs::write(&file, "fn a() {}\nfn b() {}\n").unwrap();
        let mut refused = Refused::read(dir.path(), 0);
        let entries = ["a.rs:2", "a.rs"];
        for number in 1..=entries.len() {
            assert!(refused.add(&file, 2, "why").unwrap());
            refused.write().unwrap();
            let here = Refused::read(dir.path(), 0).of(&file, "fn a() {}\nfn b() {}\n");
            let sentences: Vec<String> = here.sentences().collect();
            assert_eq!(sentences.len(), number);
            for (sentence, place) in sentences.iter().zip(entries) {
                let expected = format!(
                    "{place}: left as it is, because it does not compile with an attribute: why"
                );
                assert!(sentence.ends_with(&expected), "{sentence}");
            }
        }
        assert!(!refused.add(&file, 2, "why").unwrap());
        let mut refused = Refused::read(dir.path(), 1);
        assert!(refused.add(&file, 2, "why").unwrap());
    }
}
