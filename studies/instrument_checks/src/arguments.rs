//! The command line.

use std::ffi::OsString;

use lexopt::{Arg, Parser, ValueExt as _};

/// The checks, in the order of the table.
pub(crate) const NAMES: [&str; 10] = [
    "catalogue",
    "catalogue-time",
    "integers",
    "ladder",
    "additions",
    "default",
    "same",
    "one-percent",
    "nops",
    "competitor",
];

pub(crate) const USAGE: &str = "usage: instrument_checks [--table FILE.csv] [--help] [NAME …]";

/// What the command line asks for.
pub(crate) enum Request {
    Help,
    Run {
        names: Vec<String>,
        table: Option<String>,
    },
}

pub(crate) fn help() -> String {
    format!(
        "Holds measure, compare and instruction! against what is known, and prints a markdown table; the exit code is 1 if a check fails.\n\n\
         {USAGE}\n  --table FILE.csv  another table of instructions than studies/instrument_checks/src/instructions.csv, in its columns\n  \
         NAME              one of {}; without any, all",
        NAMES.join(", ")
    )
}

pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Request, lexopt::Error> {
    let mut parser = Parser::from_args(words);
    let (mut names, mut table) = (Vec::new(), None);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => return Ok(Request::Help),
            Arg::Long("table") => table = Some(parser.value()?.string()?),
            Arg::Value(name) => {
                let name = name.string()?;
                if !NAMES.contains(&name.as_str()) {
                    return Err(format!("no check {name:?}; one of {}", NAMES.join(", ")).into());
                }
                names.push(name);
            }
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(Request::Run { names, table })
}
