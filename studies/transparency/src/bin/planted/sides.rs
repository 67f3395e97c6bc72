//! The sessions that are compared, as `cargo tsc ab` makes them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::program::Program;

/// A session, and how much the function is slowed down in it.
pub struct Side {
    pub folder: PathBuf,
    rounds: u64,
}

impl Side {
    pub fn new(parent: &Path, name: &str, rounds: u64) -> Self {
        Self {
            folder: parent.join(name),
            rounds,
        }
    }

    /// Writes into the session whether its runs took turns with those of another one.
    pub fn pair_with(&self, other: Option<&Self>) -> io::Result<()> {
        let name = other.map(|other| other.folder.file_name().unwrap_or_default());
        let about = serde_json::json!({ "schema": 1, "interleaved_with": name.map(|name| name.to_string_lossy()) });
        fs::write(self.folder.join("session.json"), about.to_string())
    }
}

/// Runs all sides in turns. Each round begins with another side.
pub fn take_turns(
    program: &Program,
    sides: &mut [Side; 3],
    runs: u64,
    attempt: u64,
) -> io::Result<()> {
    for side in &*sides {
        if side.folder.exists() {
            fs::remove_dir_all(&side.folder)?;
        }
    }
    for run in 0..runs {
        for turn in 0..3 {
            let side = &sides[((attempt + run + turn) % 3) as usize];
            program.run(side.rounds, &side.folder.join(format!("{run:03}")))?;
        }
    }
    Ok(())
}
