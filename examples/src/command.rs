//! How every example handles its command line and its output.
//!
//! `--help` prints what the example does, and its options. An unknown argument is an error with exit code 2. If the reader closes the
//! output (`| head`), the example ends without an error.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use lexopt::{Arg, Parser};

/// The result of an example's body. An error is printed, and makes the exit code 1.
pub type Outcome = Result<(), Box<dyn Error>>;

/// An example, as its `--help` describes it.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The name of the program.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub about: &'static str,
    /// Its options: each name with a description. None of them takes a value.
    pub flags: &'static [(&'static str, &'static str)],
}

impl Example {
    /// Parses the command line, and runs `body` with the given flags and standard output.
    pub fn run(self, body: impl FnOnce(&Flags, &mut dyn Write) -> Outcome) -> ExitCode {
        match self.parse(std::env::args_os().skip(1)) {
            Ok(Request::Help) => print(self.name, |out| Ok(write!(out, "{}", self.help())?)),
            Ok(Request::Run(flags)) => print(self.name, |out| body(&flags, out)),
            Err(message) => {
                eprintln!("{}: {message}\n{}", self.name, self.usage());
                ExitCode::from(2)
            }
        }
    }

    fn parse(&self, arguments: impl Iterator<Item = OsString>) -> Result<Request, lexopt::Error> {
        let mut parser = Parser::from_args(arguments);
        let mut given = Vec::new();
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Long("help") | Arg::Short('h') => return Ok(Request::Help),
                Arg::Long(name) => match self.flags.iter().find(|(flag, _)| *flag == name) {
                    Some((flag, _)) => given.push(*flag),
                    None => return Err(argument.unexpected()),
                },
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(Request::Run(Flags(given)))
    }

    fn usage(&self) -> String {
        let flags: String = self
            .flags
            .iter()
            .map(|(flag, _)| format!(" [--{flag}]"))
            .collect();
        format!("usage: {}{flags} [--help]", self.name)
    }

    fn help(&self) -> String {
        let mut help = format!("{}\n\n{}\n", self.about, self.usage());
        for (flag, meaning) in self.flags {
            help += &format!("  --{flag:<10} {meaning}\n");
        }
        help
    }
}

/// The options in the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags(Vec<&'static str>);

impl Flags {
    /// Whether `--flag` was given.
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.0.contains(&flag)
    }
}

/// Runs `body` of the program `name` with standard output. If the reader closes the pipe, this counts as success.
pub fn print(name: &str, body: impl FnOnce(&mut dyn Write) -> Outcome) -> ExitCode {
    let mut out = io::stdout().lock();
    match body(&mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

enum Request {
    Help,
    Run(Flags),
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Example = Example {
        name: "example",
        about: "Shows something.",
        flags: &[("all", "everything")],
    };

    fn parse(arguments: &[&str]) -> Result<Request, lexopt::Error> {
        EXAMPLE.parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn known_flags_are_given_and_others_refused() {
        let flags = |arguments: &[&str]| match parse(arguments) {
            Ok(Request::Run(flags)) => flags,
            _ => panic!("{arguments:?} is a usual command line"),
        };
        assert!(flags(&["--all"]).has("all"));
        assert!(!flags(&[]).has("all"));
        assert!(matches!(parse(&["--help"]), Ok(Request::Help)));
        assert!(matches!(parse(&["--all", "-h"]), Ok(Request::Help)));
        for wrong in ["--none", "word", "-x", "--all=1"] {
            assert!(parse(&[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn help_names_every_flag() {
        assert_eq!(
            EXAMPLE.help(),
            "Shows something.\n\nusage: example [--all] [--help]\n  --all        everything\n"
        );
    }
}
