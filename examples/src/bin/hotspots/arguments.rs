//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lexopt::{Arg, Parser, ValueExt as _};

pub(crate) const USAGE: &str = "usage: hotspots [--threads N] [--pin] [--top N] [--help] [PATH…]";

pub(crate) const HELP: &str = concat!(
    "Indexes the words of every file below the paths, by default this repository, and reports what its annotated functions cost.\n\n",
    "usage: hotspots [--threads N] [--pin] [--top N] [--help] [PATH…]\n",
    "  --threads N  threads that index, 1 unless it is said\n",
    "  --pin        each thread stays on one CPU\n",
    "  --top N      how many of the most frequent words are printed, 10 unless it is said\n",
);

pub(crate) struct Arguments {
    pub(crate) threads: usize,
    pub(crate) pin: bool,
    pub(crate) top: usize,
    pub(crate) paths: Vec<PathBuf>,
}

/// The request in the command line.
pub(crate) enum Request {
    Help,
    Run(Arguments),
}

pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Request, lexopt::Error> {
    let mut arguments = Arguments {
        threads: 1,
        pin: false,
        top: 10,
        paths: Vec::new(),
    };
    let mut parser = Parser::from_args(words);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => return Ok(Request::Help),
            Arg::Long("threads") => arguments.threads = parser.value()?.parse::<usize>()?.max(1),
            Arg::Long("top") => arguments.top = parser.value()?.parse()?,
            Arg::Long("pin") => arguments.pin = true,
            Arg::Value(path) => arguments.paths.push(path.into()),
            _ => return Err(argument.unexpected()),
        }
    }
    if arguments.paths.is_empty() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        arguments
            .paths
            .push(repository.unwrap_or(Path::new(".")).to_owned());
    }
    Ok(Request::Run(arguments))
}
