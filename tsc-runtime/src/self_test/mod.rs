//! Whether the figures taken on this machine can be believed, line by line.

#![cfg(feature = "on")]

use std::fmt;

mod facts;
mod read_cost;
mod skew;
mod steadiness;
mod switches;

/// How much a finding takes away from the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub enum Verdict {
    /// Nothing.
    Good,
    /// It could not be found out, so nothing is said for or against them.
    Unknown,
    /// The figures hold with a reservation.
    Doubtful,
    /// The figures are not what they are called.
    Bad,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Good => "good",
            Self::Unknown => "unknown",
            Self::Doubtful => "doubtful",
            Self::Bad => "BAD",
        })
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// What was looked at.
    pub name: &'static str,
    /// What was found, units included.
    pub value: String,
    /// How much that takes away from the figures.
    pub verdict: Verdict,
    /// What it means for the figures.
    pub meaning: &'static str,
    /// What to do about it; `None` if there is nothing to do.
    pub advice: Option<&'static str>,
}

impl Finding {
    fn good(name: &'static str, value: impl Into<String>, meaning: &'static str) -> Self {
        Self {
            name,
            value: value.into(),
            verdict: Verdict::Good,
            meaning,
            advice: None,
        }
    }

    fn unknown(
        name: &'static str,
        value: impl Into<String>,
        meaning: &'static str,
        advice: &'static str,
    ) -> Self {
        Self {
            verdict: Verdict::Unknown,
            ..Self::doubtful(name, value, meaning, advice)
        }
    }

    fn doubtful(
        name: &'static str,
        value: impl Into<String>,
        meaning: &'static str,
        advice: &'static str,
    ) -> Self {
        Self {
            verdict: Verdict::Doubtful,
            advice: Some(advice),
            ..Self::good(name, value, meaning)
        }
    }

    fn bad(
        name: &'static str,
        value: impl Into<String>,
        meaning: &'static str,
        advice: &'static str,
    ) -> Self {
        Self {
            verdict: Verdict::Bad,
            ..Self::doubtful(name, value, meaning, advice)
        }
    }
}

/// The findings, in the order of the chain from the CPU to the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SelfTest {
    /// One per thing looked at.
    pub lines: Vec<Finding>,
}

impl SelfTest {
    /// The worst of the lines' verdicts.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.lines.iter().map(|line| line.verdict);
        verdicts.max().unwrap_or(Verdict::Good)
    }

    /// The lines of that verdict.
    pub fn having(&self, verdict: Verdict) -> impl Iterator<Item = &Finding> {
        self.lines
            .iter()
            .filter(move |line| line.verdict == verdict)
    }
}

impl fmt::Display for SelfTest {
    /// Three lines a finding at most: verdict, name and value; the meaning; the advice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const INDENT: usize = 10;
        for line in &self.lines {
            writeln!(
                f,
                "{:<INDENT$}{:<20}{}",
                line.verdict, line.name, line.value
            )?;
            writeln!(f, "{:INDENT$}{}", "", line.meaning)?;
            if let Some(advice) = line.advice {
                writeln!(f, "{:INDENT$}→ {advice}", "")?;
            }
        }
        let count = |verdict| self.having(verdict).count();
        writeln!(
            f,
            "{} good, {} unknown, {} doubtful, {} bad",
            count(Verdict::Good),
            count(Verdict::Unknown),
            count(Verdict::Doubtful),
            count(Verdict::Bad)
        )
    }
}

/// Looks at everything that decides what the figures are worth: the CPU, the counter, the clocks, the hypervisor, the system.
///
/// Takes some tenths of a second and starts threads that it pins, so it is for a `doctor` command or a program's beginning. The
/// calling thread's own affinity and records stay as they are. Nothing panics, and what cannot be found out is said.
#[must_use]
pub fn self_test() -> SelfTest {
    let mut lines = facts::lines();
    lines.extend(read_cost::lines());
    lines.extend(steadiness::lines());
    lines.push(skew::line());
    lines.push(switches::line());
    SelfTest { lines }
}

/// The findings that take no measuring beyond a millisecond: what a report needs in order to say what its unit is.
pub(crate) fn quick() -> SelfTest {
    let mut lines = facts::lines();
    lines.push(read_cost::trap());
    SelfTest { lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_says_what_it_means_and_what_to_do() {
        let test = self_test();
        assert!(test.lines.len() > 10);
        for line in &test.lines {
            assert!(
                !line.value.is_empty() && !line.meaning.is_empty(),
                "{line:?}"
            );
            assert_eq!(
                line.advice.is_some(),
                line.verdict != Verdict::Good,
                "{line:?}"
            );
        }
        let text = test.to_string();
        for line in &test.lines {
            assert!(
                text.contains(&line.value) && text.contains(line.meaning),
                "{text}"
            );
        }
        assert!(quick().lines.len() < test.lines.len());
    }

    #[test]
    fn worst_line_decides() {
        let mut test = SelfTest { lines: vec![] };
        assert_eq!(test.verdict(), Verdict::Good);
        test.lines.push(Finding::doubtful("a", "b", "c", "d"));
        test.lines.push(Finding::good("a", "b", "c"));
        test.lines.push(Finding::unknown("a", "b", "c", "d"));
        assert_eq!(test.verdict(), Verdict::Doubtful);
        test.lines.insert(0, Finding::bad("e", "b", "c", "d"));
        assert_eq!(test.verdict(), Verdict::Bad);
        let names: Vec<_> = test.having(Verdict::Bad).map(|line| line.name).collect();
        assert_eq!(names, ["e"]);
        assert!(
            test.to_string()
                .ends_with("1 good, 1 unknown, 1 doubtful, 1 bad\n")
        );
    }
}
