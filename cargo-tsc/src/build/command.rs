//! Parses the command after `--`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// What a cargo command builds.
    Cargo(CargoCommand),
    /// An existing program, and its arguments.
    Program(PathBuf, Vec<OsString>),
}

/// A cargo command that builds and runs something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CargoVerb {
    /// One binary or example.
    Run,
    /// The executables of all tests.
    Test,
    /// The executables of all benchmarks.
    Bench,
}

/// A parsed cargo command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CargoCommand {
    /// The verb.
    pub verb: CargoVerb,
    /// Cargo's own options.
    pub options: Vec<OsString>,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
}

/// The option for settings: a file of them, or one of them.
pub(super) const CONFIG: &str = "--config";

/// Options of cargo whose value is the next word.
const WITH_VALUE: [&str; 16] = [
    "--bench",
    "--bin",
    "--color",
    CONFIG,
    "--example",
    "--exclude",
    "--features",
    "--jobs",
    "--lockfile-path",
    "--manifest-path",
    "--message-format",
    "--package",
    "--profile",
    "--target",
    "--target-dir",
    "--test",
];
/// Those with one letter, which may follow the letters of others.
const LETTERS: [&str; 4] = ["F", "Z", "j", "p"];
/// The letters of options without a value, which others may follow.
const FLAGS: [char; 3] = ['q', 'r', 'v'];

impl What {
    /// Parses `words`. If there are none, the verb is `run`; if there are only options, they are options of `run`.
    ///
    /// # Errors
    /// If the first word is a cargo command that does not run anything, or if the current folder is gone.
    pub fn parse(words: &[OsString]) -> Result<Self> {
        let (verb, rest) = match words.split_first() {
            None => (CargoVerb::Run, words),
            Some((first, _)) if first.as_encoded_bytes().starts_with(b"-") => {
                (CargoVerb::Run, words)
            }
            Some((first, rest)) => match first.to_str() {
                Some("run" | "r") => (CargoVerb::Run, rest),
                Some("test" | "t") => (CargoVerb::Test, rest),
                Some("bench") => (CargoVerb::Bench, rest),
                Some(word @ ("build" | "b" | "check" | "clippy" | "doc" | "install" | "cargo")) => {
                    bail!(
                        "`{word}` runs nothing that could be measured: use run, test, bench, or a program's path"
                    )
                }
                _ => return Ok(Self::Program(first.into(), rest.to_vec())),
            },
        };
        let end = rest.iter().position(|word| word == "--");
        let (options, arguments) = match end {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        let (mut options, mut arguments) = (options.to_vec(), arguments.to_vec());
        match (bare_word(&options), verb) {
            (Some(at), CargoVerb::Run) => {
                options.truncate(at);
                arguments = rest[at..].to_vec();
            }
            (Some(at), _) => arguments.insert(0, options.remove(at)),
            (None, _) => {}
        }
        let mut command = CargoCommand {
            verb,
            options: apart(options),
            arguments,
        };
        command.find_settings()?;
        Ok(Self::Cargo(command))
    }
}

/// The first word that is no option and no option's value. For `run`, cargo gives it and what follows to the program, also `--`. For the
/// other verbs, it gives it alone to the programs: only tests with this name run.
fn bare_word(options: &[OsString]) -> Option<usize> {
    let mut is_value = false;
    options.iter().position(|word| {
        let is_option = word != "-" && word.as_encoded_bytes().starts_with(b"-");
        let is_bare = !is_value && !is_option;
        is_value = takes_next(word);
        is_bare
    })
}

/// Whether the next word is the value of this one.
fn takes_next(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let value = letters(&text).map(|letters| letters.trim_start_matches(FLAGS));
    WITH_VALUE.contains(&&*text) || value.is_some_and(|value| LETTERS.contains(&value))
}

/// The letters of options in a word, and perhaps the value of the last one.
fn letters(word: &str) -> Option<&str> {
    word.strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'))
}

/// The options with a word for each: `-qrpname` is `-q`, `-r` and `-pname`.
fn apart(options: Vec<OsString>) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut is_value = false;
    for word in options {
        let is_option = !std::mem::replace(&mut is_value, takes_next(&word));
        let Some(mut letters) = word.to_str().filter(|_| is_option).and_then(letters) else {
            words.push(word);
            continue;
        };
        while let Some(rest) = letters.strip_prefix(FLAGS).filter(|rest| !rest.is_empty()) {
            let flag = &letters[..letters.len() - rest.len()];
            words.push(format!("-{flag}").into());
            letters = rest;
        }
        words.push(format!("-{letters}").into());
    }
    words
}

impl CargoCommand {
    /// The values of an option that is written as `--name value`, `--name=value` or `-nvalue`.
    pub fn values(&self, long: &str, short: Option<&str>) -> Vec<OsString> {
        let mut values = Vec::new();
        let mut options = self.options.iter();
        while let Some(option) = options.next() {
            let text = option.to_string_lossy();
            if *option == *OsStr::new(long) || short.is_some_and(|short| *option == *short) {
                values.extend(options.next().cloned());
            } else if let Some(value) = text
                .strip_prefix(long)
                .and_then(|rest| rest.strip_prefix('='))
            {
                values.push(value.into());
            } else if let Some(value) = short.and_then(|short| text.strip_prefix(short)) {
                values.push(value.trim_start_matches('=').into());
            }
        }
        values
    }

    /// Whether the command names no platform. Programs for another one may run here in an emulator.
    pub fn is_for_this_machine(&self) -> bool {
        self.values("--target", None).is_empty()
    }

    /// Whether it builds what the dependencies of tests are for.
    pub fn has_tests(&self) -> bool {
        self.verb != CargoVerb::Run || !self.values("--example", None).is_empty()
    }

    /// Makes the paths of files of settings absolute, because cargo is also started in copies of the project.
    fn find_settings(&mut self) -> Result<()> {
        let settings = self.values(CONFIG, None);
        self.options = self.without(CONFIG);
        for value in settings {
            let is_file = Path::new(&value).exists();
            let value = match is_file {
                true => std::path::absolute(value)?.into(),
                false => value,
            };
            self.options.extend([CONFIG.into(), value]);
        }
        Ok(())
    }

    /// Whether the command has one of these options.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|option| names.iter().any(|name| *option == **name))
    }

    /// The options without the given one, which takes a value.
    pub fn without(&self, long: &str) -> Vec<OsString> {
        let mut kept = Vec::new();
        let mut options = self.options.iter();
        while let Some(option) = options.next() {
            if *option == *OsStr::new(long) {
                options.next();
            } else if !option.to_string_lossy().starts_with(&format!("{long}=")) {
                kept.push(option.clone());
            }
        }
        kept
    }

    /// Lets cargo change the lock file, and keeps it from the network if it was: `--frozen` is `--locked` and `--offline`.
    pub fn unlock(&mut self) {
        let is_offline = self.has(&["--offline", "--frozen"]);
        self.options
            .retain(|option| option != "--locked" && option != "--frozen" && option != "--offline");
        if is_offline {
            self.options.push("--offline".into());
        }
    }

    /// Whether the build has no debug assertions, as far as the options determine that.
    pub fn is_optimised(&self) -> bool {
        match self.values("--profile", None).pop() {
            Some(profile) => profile != "dev" && profile != "test",
            None => self.verb == CargoVerb::Bench || self.has(&["--release", "-r"]),
        }
    }
}

#[cfg(test)]
mod tests;
