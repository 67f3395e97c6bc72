//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

const USAGE: &str = "usage: hotspots [--threads N] [--pin] [--top N] [PATH…]";

pub(crate) struct Arguments {
    pub(crate) threads: usize,
    pub(crate) pin: bool,
    pub(crate) top: usize,
    pub(crate) paths: Vec<PathBuf>,
}

impl Arguments {
    /// The error is what to print.
    pub(crate) fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = Self {
            threads: 1,
            pin: false,
            top: 10,
            paths: Vec::new(),
        };
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--threads") => arguments.threads = number("--threads", words.next())?.max(1),
                Some("--top") => arguments.top = number("--top", words.next())?,
                Some("--pin") => arguments.pin = true,
                Some(option) if option.starts_with('-') => {
                    return Err(format!("hotspots: no option {option}\n{USAGE}"));
                }
                _ => arguments.paths.push(word.into()),
            }
        }
        if arguments.paths.is_empty() {
            let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
            arguments
                .paths
                .push(repository.unwrap_or(Path::new(".")).to_owned());
        }
        Ok(arguments)
    }
}

fn number(option: &str, word: Option<OsString>) -> Result<usize, String> {
    let word = word.ok_or_else(|| format!("hotspots: {option} needs a number\n{USAGE}"))?;
    word.to_str()
        .and_then(|word| word.parse().ok())
        .ok_or_else(|| {
            format!(
                "hotspots: {option} {}: not a number\n{USAGE}",
                word.display()
            )
        })
}
