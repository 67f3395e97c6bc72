//! The rules for a change: the options, and the policy file `tsc.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use clap::ValueEnum as _;
use regex_lite::Regex;
use serde::Deserialize;

use crate::command_line::{Judgement, Metric};
use crate::nearest::nearest;
use crate::progress::remark;
use crate::share::share;

/// The name of the file.
const FILE: &str = "tsc.toml";

/// Smaller changes do not count.
const THRESHOLD: f64 = 0.01;
/// Functions with a smaller share of the time are not judged.
const MIN_SHARE: f64 = 0.01;

/// The rules for a change.
#[derive(Debug, Default)]
pub struct Policy {
    metric: Option<Metric>,
    threshold: Option<f64>,
    min_share: Option<f64>,
    /// Whether a comparison that cannot be judged counts as passed.
    pub lenient: bool,
    /// Whether a row that is not resolved fails.
    pub fail_unresolved: bool,
    ignored: Vec<Regex>,
    functions: BTreeMap<String, f64>,
}

/// The contents of `tsc.toml`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct PolicyFile {
    #[serde(default)]
    gate: Gate,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Gate {
    metric: Option<String>,
    threshold: Option<String>,
    min_share: Option<String>,
    lenient: bool,
    fail_unresolved: bool,
    ignore: Vec<String>,
    functions: BTreeMap<String, String>,
}

impl Policy {
    /// A policy from the options alone.
    #[must_use]
    pub fn of(judgement: &Judgement) -> Self {
        Self::default().overruled(judgement)
    }

    /// The nearest `tsc.toml`: in the current folder or one that contains it, up to the file system's root, as cargo finds its
    /// configuration.
    #[must_use]
    pub fn find() -> Option<PathBuf> {
        let here = std::env::current_dir().ok()?;
        let mut files = here.ancestors().map(|folder| folder.join(FILE));
        let file = files.find(|file| file.symlink_metadata().is_ok())?;
        if file.parent() != Some(&here) {
            remark(&format!("gate: thresholds from {}", file.display()));
        }
        Some(file)
    }

    /// A policy from a file. Options that are given take precedence.
    ///
    /// # Errors
    /// If the file cannot be read or is not valid.
    pub fn read(path: &Path, judgement: &Judgement) -> Result<Self> {
        let context = || path.display().to_string();
        let text = fs::read_to_string(path).with_context(context)?;
        let file = toml_edit::de::from_str::<PolicyFile>(&text);
        let file = file.map_err(|error| anyhow!(in_one_line(&text, &error)));
        let file = file.with_context(context)?;
        Ok(Self::from_gate(file.gate)
            .with_context(context)?
            .overruled(judgement))
    }

    fn from_gate(gate: Gate) -> Result<Self> {
        let share = |key: &str, text: Option<String>| {
            let named = |text: String| {
                share(&text).map_err(|error| anyhow!("gate.{key} = \"{text}\": {error}"))
            };
            text.map(named).transpose()
        };
        let mut policy = Self {
            threshold: share("threshold", gate.threshold)?,
            min_share: share("min-share", gate.min_share)?,
            lenient: gate.lenient,
            fail_unresolved: gate.fail_unresolved,
            ..Self::default()
        };
        if let Some(metric) = gate.metric {
            let all = Metric::value_variants().iter();
            let names = Vec::from_iter(
                all.filter_map(|of| Some(of.to_possible_value()?.get_name().to_owned())),
            );
            let known = Metric::from_str(&metric, false);
            let wrong = |_| {
                anyhow!(
                    "gate.metric = \"{metric}\": expected one of {}",
                    names.join(", ")
                )
            };
            policy.metric = Some(known.map_err(wrong)?);
        }
        for pattern in gate.ignore {
            let context = || format!("gate.ignore: {pattern}");
            let pattern = Regex::new(&pattern).with_context(context)?;
            policy.ignored.push(pattern);
        }
        for (name, threshold) in gate.functions {
            let threshold = share(&format!("functions.\"{name}\""), Some(threshold))?;
            let functions = &mut policy.functions;
            functions.extend(threshold.map(|threshold| (name, threshold)));
        }
        Ok(policy)
    }

    #[cfg(test)]
    pub fn ignore(&mut self, pattern: &str) {
        self.ignored.push(Regex::new(pattern).unwrap());
    }

    fn overruled(mut self, by: &Judgement) -> Self {
        self.metric = by.metric.or(self.metric);
        self.threshold = by.threshold.or(self.threshold);
        self.min_share = by.min_share.or(self.min_share);
        // They are opposites.
        self.lenient = by.lenient || self.lenient && !by.fail_unresolved;
        self.fail_unresolved = by.fail_unresolved || self.fail_unresolved && !by.lenient;
        self
    }

    /// The metric that is compared.
    #[must_use]
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or(Metric::SelfTime)
    }

    /// The threshold of this function: smaller changes do not count.
    #[must_use]
    pub fn threshold(&self, function: &str) -> f64 {
        let own = self.functions.get(function).copied();
        // Counts do not vary, so every change is one.
        let of_all = match self.metric().is_count() {
            true => Some(0.0),
            false => self.threshold,
        };
        own.or(of_all).unwrap_or(THRESHOLD)
    }

    /// The thresholds and patterns that are of none of these functions, each with the nearest of them.
    #[must_use]
    pub fn unmatched(&self, names: &BTreeSet<String>) -> Vec<String> {
        // The paths of the call tree are only known if calls are compared.
        let may_be_path = |text: &str| text.contains(" > ") && self.metric() != Metric::Calls;
        let sentence = |key: &str, text: &str, what: &str| {
            let nearest = nearest(text, names.iter().map(String::as_str));
            let nearest = nearest.first();
            let nearest = nearest.map(|name| format!("; the nearest is {name}"));
            let nearest = nearest.unwrap_or_default();
            format!("gate.{key}: {text} {what} none of the functions{nearest}")
        };
        let functions = self.functions.keys();
        let functions = functions.filter(|name| !names.contains(*name) && !may_be_path(name));
        let functions = functions.map(|name| sentence("functions", name, "is"));
        let is_unmatched = |pattern: &&Regex| !names.iter().any(|name| pattern.is_match(name));
        let patterns = self.ignored.iter().filter(is_unmatched).map(Regex::as_str);
        let patterns = patterns.filter(|pattern| !may_be_path(pattern));
        let patterns = patterns.map(|pattern| sentence("ignore", pattern, "matches"));
        functions.chain(patterns).collect()
    }

    /// Functions with a smaller share of the time are not judged.
    #[must_use]
    pub fn min_share(&self) -> f64 {
        self.min_share.unwrap_or(MIN_SHARE)
    }

    /// Whether a function is excluded.
    #[must_use]
    pub fn ignores(&self, function: &str) -> bool {
        let mut patterns = self.ignored.iter();
        patterns.any(|pattern| pattern.is_match(function))
    }
}

/// The error without its picture of the line.
fn in_one_line(text: &str, error: &toml_edit::de::Error) -> String {
    let message = error.message().split_whitespace();
    let message = message.collect::<Vec<_>>().join(" ");
    let before = error.span().and_then(|span| text.get(..span.start));
    let Some(before) = before else {
        return message;
    };
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[start..].chars().count() + 1;
    format!("line {line}, column {column}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Result<Policy> {
        overruled(text, |_| {})
    }

    fn overruled(text: &str, by: impl FnOnce(&mut Judgement)) -> Result<Policy> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("tsc.toml");
        fs::write(&path, text)?;
        let mut judgement = Judgement {
            metric: None,
            threshold: None,
            min_share: Some(0.5),
            lenient: false,
            fail_unresolved: false,
            json: false,
            markdown: false,
        };
        by(&mut judgement);
        Policy::read(&path, &judgement)
    }

    #[test]
    fn an_option_overrules_its_opposite() {
        let file = "[gate]\nlenient = true\n";
        let policy = overruled(file, |by| by.fail_unresolved = true).unwrap();
        assert!(policy.fail_unresolved && !policy.lenient);
        let file = "[gate]\nfail-unresolved = true\n";
        let policy = overruled(file, |by| by.lenient = true).unwrap();
        assert!(policy.lenient && !policy.fail_unresolved);
    }

    #[test]
    fn file_and_options_are_one_policy() {
        let text = "[gate]\nmetric = \"p99\"\nthreshold = \"2%\"\nmin-share = \"3%\"\nignore = [\"^app::slow\"]\n[gate.functions]\n\"app::parse\" = \"5%\"\n";
        let policy = policy(text).unwrap();
        assert_eq!(policy.metric(), Metric::P99);
        assert_eq!(
            (policy.threshold("app::parse"), policy.threshold("other")),
            (0.05, 0.02)
        );
        assert_eq!(policy.min_share(), 0.5);
        assert!(policy.ignores("app::slowly") && !policy.ignores("my::app::slow"));
    }

    #[test]
    fn what_is_of_no_function_is_said() {
        let names = ["app::parse", "app::print"].map(str::to_owned).into();
        let unmatched = |metric: &str| {
            let text = format!(
                "[gate]\nmetric = \"{metric}\"\nignore = [\"::print$\", \"^prase\", \"a > b\"]\n[gate.functions]\n\"app::prnt\" = \"5%\"\n\"c > d\" = \"5%\"\n"
            );
            policy(&text).unwrap().unmatched(&names)
        };
        let said = [
            "gate.functions: app::prnt is none of the functions; the nearest is app::print",
            "gate.ignore: ^prase matches none of the functions; the nearest is app::parse",
        ];
        assert_eq!(unmatched("self"), said);
        assert_eq!(unmatched("calls").len(), 4);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, blamed) in [
            ("[gate]\nthreshhold = \"2%\"", "threshhold"),
            ("[gate]\nthreshold = \"much\"", "gate.threshold"),
            (
                "[gate]\nmetric = \"speed\"",
                "gate.metric = \"speed\": expected one of self, self-per-call, ",
            ),
            (
                "[gate]\nmetric = \"self\"\nlimit = 3",
                "tsc.toml: line 3, column 1: unknown field `limit`, expected one of `metric`, ",
            ),
            (
                "[gate]\nignore = [\"ä\" \"b\"]",
                "tsc.toml: line 2, column 15: ",
            ),
            ("[gate]\nignore = [\"(\"]", "gate.ignore"),
            ("[gate]\nfunctions = { f = \"200%\" }", "functions"),
        ] {
            let error = format!("{:#}", policy(text).unwrap_err());
            assert!(
                error.contains(blamed) && error.contains("tsc.toml"),
                "{error}"
            );
        }
    }

    #[test]
    fn shares_are_percentages_or_fractions() {
        assert_eq!(share("2%"), Ok(0.02));
        assert_eq!(share("0.5"), Ok(0.5));
        assert!(share("2").is_err() && share("x%").is_err() && share("-1%").is_err());
    }
}
