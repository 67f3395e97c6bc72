//! Checks whether figures that are measured on this machine can be trusted.

#![cfg(measuring)]
#![cfg_attr(not(feature = "on"), doc(hidden))]

use std::fmt;

use crate::calibration::Rate;
use tsc_report::__private::{data, named};

mod facts;
mod lfence;
#[cfg(feature = "on")]
mod read_cost;
#[cfg(feature = "on")]
mod skew;
#[cfg(feature = "on")]
mod steadiness;
#[cfg(feature = "on")]
mod switches;
mod trap;

named! {
    /// What a finding means for the figures.
    #[derive(PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    pub enum Verdict {
        /// Nothing is wrong.
        Good = "good",
        /// The check was not possible or had no result.
        Unknown = "unknown",
        /// The figures can be used with the reservation that the finding states.
        Doubtful = "doubtful",
        /// The figures cannot be used.
        Bad = "BAD",
    }
}

data! {
    /// The result of one check.
    pub struct Finding {
        /// What was checked.
        name: &'static str,
        /// What was found, with its unit.
        value: String => &str,
        /// How serious it is.
        verdict: Verdict,
        /// What it means for the figures.
        meaning: &'static str,
        /// What to do about it; `None` if there is nothing to do.
        advice: Option<&'static str>,
    }
}

/// A finding without a name, which the list of checks gives it. Any but a good one needs advice.
fn finding(verdict: Verdict, value: impl Into<String>) -> Finding {
    Finding {
        name: "",
        value: value.into(),
        verdict,
        meaning: "",
        advice: None,
    }
}

fn good(value: impl Into<String>) -> Finding {
    finding(Verdict::Good, value)
}

fn unknown(value: impl Into<String>) -> Finding {
    finding(Verdict::Unknown, value)
}

fn doubtful(value: impl Into<String>) -> Finding {
    finding(Verdict::Doubtful, value)
}

fn bad(value: impl Into<String>) -> Finding {
    finding(Verdict::Bad, value)
}

impl Finding {
    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    fn advise(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }
}

data! {
    /// The findings of a self-test. [`Display`](fmt::Display) prints them with their meanings and advice.
    pub struct SelfTest {
        /// One finding for each check.
        findings: Vec<Finding> => &[Finding],
    }
}

impl SelfTest {
    /// The worst verdict of all findings.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.findings.iter().map(|line| line.verdict);
        verdicts.max().unwrap_or(Verdict::Good)
    }

    /// The findings with this verdict.
    pub fn having(&self, verdict: Verdict) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter();
        findings.filter(move |line| line.verdict == verdict)
    }
}

impl fmt::Display for SelfTest {
    /// Prints up to three lines for each finding: verdict, name and value; the meaning; the advice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const INDENT: usize = 10;
        for line in &self.findings {
            write!(f, "{:<INDENT$}{:<20}", line.verdict, line.name)?;
            writeln!(f, "{}\n{:INDENT$}{}", line.value, "", line.meaning)?;
            if let Some(advice) = line.advice {
                writeln!(f, "{:INDENT$}→ {advice}", "")?;
            }
        }
        let count = |verdict| self.having(verdict).count();
        let (good, unknown) = (count(Verdict::Good), count(Verdict::Unknown));
        let (doubtful, bad) = (count(Verdict::Doubtful), count(Verdict::Bad));
        write!(f, "{good} good, {unknown} unknown, ")?;
        writeln!(f, "{doubtful} doubtful, {bad} bad")
    }
}

/// Checks everything on which the accuracy of the figures depends: the CPU, the counter, the clocks, the hypervisor, and the system.
///
/// It usually takes some tenths of a second, on a busy machine with many CPUs some seconds. It starts threads that it pins to CPUs, so
/// call it in a command of its own or at the beginning of a program. The affinity and the records of the calling thread do not change. The
/// function does not panic; a check that is not possible has the verdict [`Verdict::Unknown`].
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "on")]
/// # {
/// use tsc_runtime::self_test::{Verdict, self_test};
///
/// let test = self_test();
/// for finding in test.having(Verdict::Bad) {
///     eprintln!("{}: {}: {}", finding.name(), finding.value(), finding.meaning());
/// }
/// # }
/// ```
#[cfg(feature = "on")]
#[must_use]
pub fn self_test() -> SelfTest {
    let mut findings = facts::lines();
    findings.extend(read_cost::lines());
    findings.extend(steadiness::lines());
    findings.push(skew::line().named("skew between CPUs"));
    findings.push(switches::line().named("context switch"));
    SelfTest { findings }
}

/// The checks that take less than a millisecond, for the report's banner.
pub(crate) fn quick() -> SelfTest {
    let mut findings = facts::lines();
    findings.push(trap::trap());
    SelfTest { findings }
}

/// What there is to say if a clock has stepped.
pub(crate) fn stepped(rate: &Rate) -> Option<Finding> {
    let finding = doubtful(rate.to_string()).means("a clock stepped while this program ran");
    let finding = finding.advise("run the program again").named("rate");
    rate.stepped.then_some(finding)
}

#[cfg(all(test, feature = "on"))]
mod tests {
    use super::Verdict::{Bad, Doubtful, Good};
    use super::*;

    #[test]
    fn every_line_says_what_it_means_and_what_to_do() {
        let test = self_test();
        assert!(test.findings.len() > 10);
        for line in &test.findings {
            assert!(
                !line.value.is_empty() && !line.meaning.is_empty(),
                "{line:?}"
            );
            assert_eq!(line.advice.is_some(), line.verdict != Good, "{line:?}");
        }
        let text = test.to_string();
        for line in &test.findings {
            assert!(
                text.contains(&line.value) && text.contains(line.meaning),
                "{text}"
            );
        }
        assert!(quick().findings.len() < test.findings.len());
    }

    #[test]
    fn worst_line_decides() {
        let mut test = SelfTest { findings: vec![] };
        assert_eq!(test.verdict(), Good);
        test.findings.push(doubtful("b").means("c").advise("d"));
        test.findings.push(good("b").means("c"));
        test.findings.push(unknown("b").means("c").advise("d"));
        assert_eq!(test.verdict(), Doubtful);
        test.findings
            .insert(0, bad("b").means("c").advise("d").named("e"));
        assert_eq!(test.verdict(), Bad);
        let names: Vec<_> = test.having(Bad).map(|line| line.name).collect();
        assert_eq!(names, ["e"]);
        assert!(
            test.to_string()
                .ends_with("1 good, 1 unknown, 1 doubtful, 1 bad\n")
        );
    }
}
