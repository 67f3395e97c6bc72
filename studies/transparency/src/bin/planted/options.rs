//! The command line.

use std::{env, io};

use crate::program::{PROGRAMS, Program};

pub struct Options {
    pub tries: u64,
    pub pairs: u64,
    pub neighbours: u64,
    pub kept: bool,
    pub again: bool,
    only: Option<String>,
    named: Vec<String>,
}

impl Options {
    pub fn read() -> io::Result<Self> {
        let mut options = Self {
            tries: 10,
            pairs: 5,
            neighbours: 2,
            kept: false,
            again: false,
            only: None,
            named: Vec::new(),
        };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let missing = || io::Error::other(format!("{word} has no value"));
            let mut value = || words.next().ok_or_else(missing);
            let number = |text: String| text.parse().map_err(io::Error::other);
            match word.as_str() {
                "--tries" => options.tries = number(value()?)?,
                "--pairs" => options.pairs = number(value()?)?,
                "--neighbours" => options.neighbours = number(value()?)?,
                "--only" => options.only = Some(value()?),
                "--kept" => options.kept = true,
                "--again" => options.again = true,
                name if PROGRAMS.iter().any(|program| program.name == name) => {
                    options.named.push(word);
                }
                _ => return Err(io::Error::other(format!("{word} is no option or program"))),
            }
        }
        Ok(options)
    }

    /// The programs that are measured.
    pub fn programs(&self) -> impl Iterator<Item = &'static Program> {
        let is_named = |program: &&Program| self.named.iter().any(|name| name == program.name);
        PROGRAMS
            .iter()
            .filter(move |program| self.named.is_empty() || is_named(program))
    }

    /// Whether this part is measured.
    pub fn includes(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == part)
    }
}
