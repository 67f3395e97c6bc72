//! `cargo tsc diff` and `cargo tsc gate`: what changed, for people and as an exit status.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::command_line::{DiffArgs, GateArgs, Judgement};
use crate::diff::{Comparison, Policy, Verdict, compare, objections, print};
use crate::exit::Exit;
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
    let (exit, _) = both(
        &args.before,
        args.after.as_deref(),
        &policy,
        &args.judgement,
    )?;
    Ok(exit)
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
    let (exit, comparison) = both(before, after, &policy, &args.judgement)?;
    match comparison {
        Some(comparison) if exit == Exit::Fine => Ok(decide(&comparison, &policy)),
        _ => Ok(exit),
    }
}

fn decide(comparison: &Comparison, policy: &Policy) -> Exit {
    let unjudged = |why: &str| {
        remark(why);
        if policy.lenient {
            Exit::Fine
        } else {
            Exit::NotComparable
        }
    };
    if let Some(least) = comparison.too_few_runs {
        return unjudged(&format!(
            "gate: {} and {} runs are not judged: it takes {least} a side; measure with -n 10",
            comparison.runs.0, comparison.runs.1
        ));
    }
    let named = |verdict: Verdict| -> Vec<&str> {
        let rows = comparison.with(verdict);
        rows.map(|row| row.name.as_str()).collect()
    };
    let slower = named(Verdict::Slower);
    let word = if comparison.exact { "more" } else { "slower" };
    if !slower.is_empty() {
        remark(&format!("gate: {word}: {}", slower.join(", ")));
        return Exit::Regression;
    }
    if comparison.exact {
        remark("gate: nothing is counted more often");
    } else {
        let judged = comparison.rows.iter().filter(|row| row.visible.is_some());
        let least = judged.fold(0.0_f64, |least, row| least.max(row.threshold));
        let unseen = comparison
            .least_visible()
            .map_or_else(String::new, |(row, visible)| {
                format!(
                    "; up to {} in {} could not be seen",
                    percent(visible),
                    row.name
                )
            });
        remark(&format!(
            "gate: nothing slower by {}{unseen}",
            percent(least)
        ));
    }
    let unresolved = named(Verdict::NotResolved);
    if policy.fail_unresolved && !unresolved.is_empty() {
        return unjudged(&format!("gate: not resolved: {}", unresolved.join(", ")));
    }
    Exit::Fine
}

/// Loads and compares two sessions, and prints the result. Returns no comparison if they cannot be compared.
fn both(
    before: &Path,
    after: Option<&Path>,
    policy: &Policy,
    judgement: &Judgement,
) -> Result<(Exit, Option<Comparison>)> {
    let store = Store::here();
    let before = session::load(Some(before), &store)?;
    let is_given = after.is_some();
    let after = session::load(after, &store)?;
    if !is_given && whole(after.path.clone()) == whole(before.path.clone()) {
        bail!(
            "{} is the newest session itself: measure again, or name the session after",
            before.label
        );
    }
    show(&before, &after, policy, judgement)
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
    print(before, after, &comparison, judgement)?;
    Ok((Exit::Fine, Some(comparison)))
}
