//! `cargo tsc diff` and `cargo tsc gate`: what changed, for people and as an exit status.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::command_line::{DiffArgs, GateArgs, Judgement};
use crate::diff::{Comparison, Policy, Verdict, compare, objections, print};
use crate::escape::line;
use crate::exit::Exit;
use crate::output::unless_closed;
use crate::progress::remark;
use crate::rows::percent;
use crate::session::{self, Session, Store};
use crate::sources::whole;

/// Runs `cargo tsc diff`.
///
/// # Errors
/// If a session cannot be read.
pub fn diff(args: &DiffArgs) -> Result<Exit> {
    let policy = Policy::of(&args.judgement);
    let (before, after, _) = both(&args.before, args.after.as_deref())?;
    let (exit, comparison) = show(&before, &after, &policy, &args.judgement)?;
    Ok(comparison.map_or(exit, |comparison| shown(&comparison, &policy)))
}

/// The exit status where a comparison is shown and not judged: something slower is no failure there.
#[must_use]
pub fn shown(comparison: &Comparison, policy: &Policy) -> Exit {
    let mut rows = comparison.rows.iter();
    if policy.fail_unresolved && rows.any(|row| row.verdict.is_open()) {
        Exit::NotComparable
    } else {
        Exit::Fine
    }
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
    let (exit, comparison) = show(&before, &after, &policy, &args.judgement)?;
    let Some(comparison) = comparison.filter(|_| exit == Exit::Fine) else {
        return Ok(exit);
    };
    let (verdict, text) = decide(&comparison, &policy, is_same);
    let text = format!("gate: {text}");
    if args.judgement.json {
        remark(&text);
    } else {
        let printed = line(&mut anstream::stdout().lock(), &text);
        unless_closed(printed.map_err(Into::into))?;
    }
    Ok(match verdict {
        Exit::NotComparable if policy.lenient => Exit::Fine,
        verdict => verdict,
    })
}

/// The exit status, and the verdict in words.
fn decide(comparison: &Comparison, policy: &Policy, is_same: bool) -> (Exit, String) {
    let named = |is: fn(Verdict) -> bool| -> String {
        let rows = comparison.rows.iter().filter(|row| is(row.verdict));
        let names: Vec<&str> = rows.map(|row| row.name.as_str()).collect();
        names.join(", ")
    };
    if is_same && !comparison.exact {
        let text = "a session is always as fast as itself: measure again, and name both sessions";
        return (Exit::NotComparable, text.to_owned());
    }
    if let Some(least) = comparison.too_few_runs {
        let (before, after) = comparison.runs;
        let text = format!(
            "{before} and {after} runs are not judged: it takes {least} a side; measure with -n 10"
        );
        return (Exit::NotComparable, text);
    }
    let slower = named(|verdict| verdict == Verdict::Slower);
    if !slower.is_empty() {
        let word = if comparison.exact { "more" } else { "slower" };
        return (Exit::Regression, format!("{word}: {slower}"));
    }
    let unresolved = named(Verdict::is_open);
    if policy.fail_unresolved && !unresolved.is_empty() {
        return (Exit::NotComparable, format!("not resolved: {unresolved}"));
    }
    let mut rows = comparison.rows.iter();
    if comparison.exact && !rows.any(|row| row.verdict.is_judged()) {
        let text = "nothing is compared: no function that the policy lets be judged has this count on both sides";
        return (Exit::NotComparable, text.to_owned());
    }
    if comparison.exact {
        let text = match comparison.with(Verdict::Varies).count() {
            0 => "nothing is counted more often".to_owned(),
            varies => {
                format!("nothing is counted more often; {varies} are not judged, because they vary")
            }
        };
        return (Exit::Fine, text);
    }
    let judged = comparison.rows.iter().filter(|row| row.visible.is_some());
    let least = judged.fold(0.0_f64, |least, row| least.max(row.threshold));
    let mut text = format!("nothing slower by {}", percent(least));
    if let Some((row, visible)) = comparison.least_visible() {
        let visible = percent(visible);
        text += &format!("; up to {visible} in {} could not have been seen", row.name);
    }
    let not_judged = named(|verdict| verdict == Verdict::NotPositive);
    if !not_judged.is_empty() {
        text += &format!("; not judged: {not_judged}");
    }
    (Exit::Fine, text)
}

/// Loads two sessions. Also returns whether they are one, by whatever paths they are named.
fn both(before: &Path, after: Option<&Path>) -> Result<(Session, Session, bool)> {
    let store = Store::here();
    let before = session::load(Some(before), &store)?;
    let is_given = after.is_some();
    let after = session::load(after, &store)?;
    let is_same = whole(after.path.clone()) == whole(before.path.clone());
    if is_same && !is_given {
        bail!(
            "{} is the newest session itself: measure again, or name the session after",
            before.label
        );
    }
    Ok((before, after, is_same))
}

/// Compares two sessions, and prints the result.
///
/// # Errors
/// If the output cannot be written.
pub fn show(
    before: &Session,
    after: &Session,
    policy: &Policy,
    judgement: &Judgement,
) -> Result<(Exit, Option<Comparison>)> {
    let objections = objections(before, after, policy);
    for objection in &objections {
        remark(&format!("not comparable: {objection}"));
    }
    if !objections.is_empty() && !policy.lenient {
        return Ok((Exit::NotComparable, None));
    }
    let comparison = compare(before, after, policy);
    unless_closed(print(before, after, &comparison, judgement))?;
    Ok((Exit::Fine, Some(comparison)))
}
