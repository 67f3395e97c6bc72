//! `cargo tsc diff` and `cargo tsc gate`: what changed, for people and as an exit status.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::command_line::{DiffArgs, GateArgs, Judgement};
use crate::diff::{
    Comparison, Difference, NOT_TIMED, Policy, Row, Verdict, WHOLE, compare, known_change,
    objections, print, slower_and_faster,
};
use crate::exit::Exit;
use crate::output::unless_closed;
use crate::progress::{remark, warn};
use crate::rows::{path, percent};
use crate::session::{self, Session, Store};
use crate::sources::whole;
use crate::statistics::range;

/// Runs `cargo tsc diff`.
///
/// # Errors
/// If a session cannot be read.
pub fn diff(args: &DiffArgs) -> Result<Exit> {
    let (before, after, _) = both(&args.before, args.after.as_deref())?;
    show(&before, &after, &args.judgement)
}

/// Compares two sessions, and prints the result, which is not judged: something slower is no failure here.
///
/// # Errors
/// If the output cannot be written.
pub fn show(before: &Session, after: &Session, judgement: &Judgement) -> Result<Exit> {
    let policy = Policy::of(judgement);
    let difference = Difference::of(before, after, &policy);
    unless_closed(print(before, after, &difference, None, judgement))?;
    let Some(comparison) = difference.comparison else {
        return Ok(Exit::NotComparable);
    };
    let is_open = comparison.rows.iter().any(|row| row.verdict.is_open());
    Ok(match policy.fail_unresolved && is_open {
        true => Exit::NotComparable,
        false => Exit::Fine,
    })
}

/// Runs `cargo tsc gate`.
///
/// # Errors
/// If a session or the policy cannot be read.
pub fn gate(args: &GateArgs) -> Result<Exit> {
    let policy = match args.policy.clone().or_else(Policy::find) {
        Some(path) => Policy::read(&path, &args.judgement)?,
        None => Policy::of(&args.judgement),
    };
    let sessions: Vec<&PathBuf> = args.baseline.iter().chain(&args.sessions).collect();
    let (before, after) = match sessions[..] {
        [before] => (before, None),
        [before, after] => (before, Some(after.as_path())),
        _ => bail!("give the session before once: with --baseline, or as the first of two"),
    };
    let (before, after, is_same) = both(before, after)?;
    let difference = Difference::of(&before, &after, &policy);
    if let Some(comparison) = &difference.comparison {
        let names = names(&[&before, &after], comparison);
        let unmatched = policy.unmatched(&names);
        unmatched.iter().for_each(|sentence| remark(sentence));
    }
    let (exit, text) = difference.verdict(&policy, is_same);
    let printed = print(&before, &after, &difference, Some(&text), &args.judgement);
    unless_closed(printed)?;
    Ok(match exit {
        Exit::NotComparable if policy.lenient => Exit::Fine,
        exit => exit,
    })
}

/// The names for which the policy may have a threshold: of all functions, also those that do not have the metric.
fn names(sessions: &[&Session], comparison: &Comparison) -> BTreeSet<String> {
    let runs = sessions.iter().flat_map(|session| &session.runs);
    let functions = runs.flat_map(|run| run.callsites().iter().map(path));
    let rows = comparison.rows.iter().map(|row| row.name.clone());
    let whole = std::iter::once(WHOLE.to_owned());
    functions.chain(rows).chain(whole).collect()
}

impl Difference {
    /// Compares two sessions, and says why they are not to be compared, if there are reasons.
    fn of(before: &Session, after: &Session, policy: &Policy) -> Self {
        let objections = objections(before, after, policy);
        for objection in &objections {
            warn(&format!("not comparable: {objection}"));
        }
        let is_compared = objections.is_empty() || policy.lenient;
        if !is_compared {
            warn("--lenient compares them all the same");
        }
        Self {
            objections,
            comparison: is_compared.then(|| compare(before, after, policy)),
        }
    }

    /// The exit status of the gate, and its verdict in words.
    fn verdict(&self, policy: &Policy, is_same: bool) -> (Exit, String) {
        let Some(comparison) = &self.comparison else {
            let text = format!("not judged: {}", self.objections.join("; "));
            return (Exit::NotComparable, text);
        };
        match decide(comparison, policy, is_same) {
            (_, text) if !self.objections.is_empty() => (
                Exit::NotComparable,
                format!("not judged; otherwise: {text}"),
            ),
            decided => decided,
        }
    }
}

/// The exit status, and the verdict in words.
fn decide(comparison: &Comparison, policy: &Policy, is_same: bool) -> (Exit, String) {
    if is_same && !comparison.exact {
        let text = "a session is always as fast as itself: measure again, and name both sessions";
        return (Exit::NotComparable, text.to_owned());
    }
    if let Some(text) = comparison.too_few() {
        return (Exit::NotComparable, text);
    }
    let slower = named(comparison, |verdict| verdict == Verdict::Slower);
    if !slower.is_empty() {
        let (word, _) = slower_and_faster(comparison.exact);
        return (Exit::Regression, format!("{word}: {slower}"));
    }
    let unresolved = named(comparison, Verdict::is_open);
    if policy.fail_unresolved && !unresolved.is_empty() {
        return (Exit::NotComparable, format!("not resolved: {unresolved}"));
    }
    let mut rows = comparison.rows.iter();
    if !comparison.exact {
        if rows.all(|row| row.visible.is_none()) {
            let why = match comparison.with(Verdict::NotTimed).next() {
                Some(_) => NOT_TIMED,
                None => {
                    "no function on both sides takes as much time as the policy asks for, and as can be judged"
                }
            };
            return (Exit::NotComparable, format!("nothing is judged: {why}"));
        }
        return (Exit::Fine, nothing_slower(comparison));
    }
    let is_counted = |row: &Row| row.before.is_some() && row.after.is_some();
    if !rows.any(|row| row.verdict.is_judged() && is_counted(row)) {
        let text = "nothing is compared: no function that the policy lets be judged has this count on both sides";
        return (Exit::NotComparable, text.to_owned());
    }
    let text = match comparison.with(Verdict::Varies).count() {
        0 => "nothing is counted more often".to_owned(),
        varies => {
            format!("nothing is counted more often; {varies} are not judged, because they vary")
        }
    };
    (Exit::Fine, text)
}

/// By how much nothing is slower, and where that may not have been seen.
fn nothing_slower(comparison: &Comparison) -> String {
    let judged = comparison.rows.iter().filter(|row| row.visible.is_some());
    let (least, greatest) = range(&judged.map(|row| row.threshold).collect::<Vec<f64>>());
    let mut text = match percent(least) == percent(greatest) {
        true => format!("nothing slower by {}", percent(least)),
        false => format!(
            "nothing slower by the thresholds, {} to {}",
            percent(least),
            percent(greatest)
        ),
    };
    if let Some((row, visible)) = comparison.least_visible() {
        let visible = known_change(visible).map_or("×10 and more".to_owned(), percent);
        text += &format!("; up to {visible} in {} could not have been seen", row.name);
    }
    let not_judged = named(comparison, |verdict| verdict == Verdict::NotPositive);
    if !not_judged.is_empty() {
        text += &format!("; not judged: {not_judged}");
    }
    text
}

/// The names of the rows with such a verdict.
fn named(comparison: &Comparison, is: fn(Verdict) -> bool) -> String {
    let rows = comparison.rows.iter().filter(|row| is(row.verdict));
    let names: Vec<&str> = rows.map(|row| row.name.as_str()).collect();
    names.join(", ")
}

/// Loads two sessions. Also returns whether they are one, by whatever paths they are named.
fn both(before: &Path, after: Option<&Path>) -> Result<(Session, Session, bool)> {
    let store = Store::here();
    let mut before = session::load(Some(before), &store)?;
    let is_given = after.is_some();
    let mut after = session::load(after, &store)?;
    let is_same = whole(after.path.clone()) == whole(before.path.clone());
    if is_same && !is_given {
        bail!(
            "{} is the newest session itself: measure again, or name the session after",
            before.label
        );
    }
    for side in [&mut before, &mut after] {
        let cut = side.leave_out_cut();
        if cut != 0 {
            remark(&format!(
                "not compared: {cut} of the runs of {}, which a signal has ended",
                side.label
            ));
        }
    }
    Ok((before, after, is_same))
}
