//! Writes each row to a file.

use std::fs::File;
use std::io::{self, Write};
use std::iter::Peekable;

use serde_json::json;

use crate::Row;

/// The file, if one is wanted.
pub(crate) struct Rows(Option<File>);

impl Rows {
    /// Takes `--rows FILE` from the arguments.
    pub(crate) fn from_arguments(
        arguments: &mut Peekable<impl Iterator<Item = String>>,
    ) -> io::Result<Self> {
        if arguments.next_if(|first| first == "--rows").is_none() {
            return Ok(Self(None));
        }
        let missing = || io::Error::other("--rows needs the name of a file");
        let file = arguments.next().ok_or_else(missing)?;
        File::create(file).map(Some).map(Self)
    }

    /// Writes the rows of a program beside so many threads.
    pub(crate) fn write(&mut self, threads: usize, program: &str, rows: &[Row]) -> io::Result<()> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        for row in rows {
            let line = json!({
                "program": program,
                "threads": threads,
                "name": row.name,
                "own": row.own,
                "error": row.error,
                "truth": row.truth,
                "said": row.said,
            });
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}
