//! Interleaved rounds: in each round, every contestant runs once, in a process of its own.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};

use super::roster::{Contestant, Entrant};
use super::spread::Spread;

/// What one process printed.
type Figures = HashMap<String, f64>;

/// One contestant's processes.
pub(crate) struct Rounds {
    pub(crate) contestant: Contestant,
    /// Of each round; none where it failed.
    pub(crate) figures: Vec<Figures>,
    failure: Option<String>,
}

/// Every contestant `count` times. Each round begins with another contestant, so that none always follows the same.
pub(crate) fn run(entrants: &[Entrant], scenario: &str, count: usize) -> Vec<Rounds> {
    let mut all: Vec<_> = entrants.iter().map(Rounds::new).collect();
    for round in 0..count {
        let first = round * 7 % all.len();
        for place in 0..all.len() {
            let place = (first + place) % all.len();
            let rounds = &mut all[place];
            progress(&format!(
                "{scenario}, round {} of {count}: {}",
                round + 1,
                rounds.contestant.name
            ));
            rounds.go(scenario);
        }
    }
    progress("");
    all
}

/// To whoever waits at a terminal.
pub(crate) fn progress(text: &str) {
    if io::stderr().is_terminal() {
        eprint!("\r{text:<60}\r");
    }
}

fn figures(contestant: &Contestant, scenario: &str) -> Result<Figures, String> {
    let output = Command::new(contestant.executable())
        .args([scenario, contestant.stretch()])
        // Its own threads and files are its own; what the environment says to profilers is not for this.
        .env("TSC_REPORT", "off")
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let last = words.lines().last().unwrap_or_default();
        return Err(format!("{}, {}", output.status, last.replace('|', "\\|")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(figure).collect())
}

fn figure(line: &str) -> Option<(String, f64)> {
    let (key, value) = line.strip_prefix("@ ")?.split_once(' ')?;
    Some((key.to_owned(), value.parse().ok()?))
}

impl Rounds {
    fn new((contestant, built): &Entrant) -> Self {
        Self {
            contestant: *contestant,
            figures: Vec::new(),
            failure: built
                .as_ref()
                .err()
                .map(|why| format!("does not build here: {why}")),
        }
    }

    fn go(&mut self, scenario: &str) {
        // Unless it was never built, what failed once may not fail again.
        if self.failure.is_some() && self.figures.is_empty() {
            return;
        }
        let figures = figures(&self.contestant, scenario).unwrap_or_else(|why| {
            self.failure = Some(format!("does not run here: {why}"));
            Figures::default()
        });
        self.figures.push(figures);
    }

    /// The row of a contestant that has no figures: why, and so many empty cells.
    pub(crate) fn failed(&self, cells: usize) -> Option<String> {
        let why = self.failure.as_ref()?;
        let none = self.figures.iter().all(HashMap::is_empty);
        none.then(|| row_of_failure(self.contestant.label, why, cells))
    }

    /// The spread over the rounds of what each round's figures come to.
    pub(crate) fn spread(
        &self,
        value: impl Fn(&dyn Fn(&str) -> Option<f64>) -> Option<f64>,
    ) -> Option<Spread> {
        Spread::of(
            self.figures
                .iter()
                .filter_map(|figures| value(&|key| figures.get(key).copied()))
                .collect(),
        )
    }

    pub(crate) fn figure(&self, key: &str) -> Option<Spread> {
        self.spread(|of| of(key))
    }

    /// One figure by another of the same process.
    pub(crate) fn ratio(&self, key: &str, to: &str) -> Option<Spread> {
        self.spread(|of| Some(of(key)? / of(to)?))
    }
}

/// A row that says why it has no figures.
pub(crate) fn row_of_failure(label: &str, why: &str, cells: usize) -> String {
    format!("| {label} | {why} |{}", " |".repeat(cells - 1))
}

/// Those of the contestant with this name.
pub(crate) fn of<'a>(all: &'a [Rounds], name: &str) -> Option<&'a Rounds> {
    all.iter().find(|rounds| rounds.contestant.name == name)
}
