//! Interleaved rounds: in each, every contestant runs once, in a process of its own.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::process::{Command, Stdio};

use super::roster::Contestant;
use super::spread::Spread;

/// What one process printed.
type Figures = HashMap<String, f64>;

/// One contestant's processes.
pub(crate) struct Rounds {
    pub(crate) contestant: Contestant,
    pub(crate) figures: Vec<Figures>,
}

/// Every contestant `count` times. Each round begins with another contestant, so that none always follows the same.
pub(crate) fn run(contestants: &[Contestant], scenario: &str, count: usize) -> Vec<Rounds> {
    let mut all: Vec<_> = contestants
        .iter()
        .map(|&contestant| Rounds {
            contestant,
            figures: Vec::new(),
        })
        .collect();
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
            match figures(&rounds.contestant, scenario) {
                Ok(figures) => rounds.figures.push(figures),
                Err(why) => eprintln!("\npeers: {}, {scenario}: {why}", rounds.contestant.name),
            }
        }
    }
    progress("");
    all
}

/// To whoever waits at a terminal.
fn progress(text: &str) {
    if io::stderr().is_terminal() {
        eprint!("\r{text:<60}\r");
    }
}

fn figures(contestant: &Contestant, scenario: &str) -> Result<Figures, String> {
    let output = Command::new(contestant.executable())
        .args([scenario, contestant.stretch()])
        // Its own threads and files are its own; what the environment says to profilers is not for this.
        .env("TSC_REPORT", "off")
        .stderr(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(output.status.to_string());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(figure).collect())
}

fn figure(line: &str) -> Option<(String, f64)> {
    let (key, value) = line.strip_prefix("@ ")?.split_once(' ')?;
    Some((key.to_owned(), value.parse().ok()?))
}

impl Rounds {
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

/// Those of the contestant with this name.
pub(crate) fn of<'a>(all: &'a [Rounds], name: &str) -> Option<&'a Rounds> {
    all.iter().find(|rounds| rounds.contestant.name == name)
}
