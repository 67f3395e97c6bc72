//! `cargo tsc diff` and `cargo tsc gate`: what changed, for people and as an exit status.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command_line::{DiffArgs, GateArgs, Judgement};
use crate::diff::{Comparison, Policy, Verdict, compare, objections, print};
use crate::exit::Exit;
use crate::progress::remark;
use crate::session::{self, Session, Store};

/// Runs `cargo tsc diff`.
///
/// # Errors
/// If a session cannot be read.
pub fn diff(args: &DiffArgs) -> Result<Exit> {
    let policy = Policy::of(&args.judgement);
    let (exit, _) = both(&args.before, args.after.as_ref(), &policy, &args.judgement)?;
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
    let (exit, comparison) = both(
        &args.baseline,
        args.after.as_ref(),
        &policy,
        &args.judgement,
    )?;
    match comparison {
        Some(comparison) if exit == Exit::Fine => Ok(decide(&comparison, &policy, &args.judgement)),
        _ => Ok(exit),
    }
}

fn decide(comparison: &Comparison, policy: &Policy, judgement: &Judgement) -> Exit {
    let unjudged = |why: &str| {
        remark(why);
        if policy.lenient {
            Exit::Fine
        } else {
            Exit::NotComparable
        }
    };
    if comparison.within_runs && !judgement.within_runs {
        return unjudged(
            "gate: one run a side is not judged; measure with -n 10, or say --within-runs",
        );
    }
    if let (Some(runs), false) = (comparison.too_few_runs, comparison.within_runs) {
        return unjudged(&format!("gate: too few runs; {runs} a side would do"));
    }
    let slower: Vec<&str> = comparison
        .rows
        .iter()
        .filter(|row| row.verdict == Verdict::Slower)
        .map(|row| row.name.as_str())
        .collect();
    if slower.is_empty() {
        remark("gate: nothing is slower beyond its threshold");
        return Exit::Fine;
    }
    remark(&format!("gate: slower: {}", slower.join(", ")));
    Exit::Regression
}

/// Loads and compares two sessions, and prints the result. Returns no comparison if they cannot be compared.
fn both(
    before: &Path,
    after: Option<&PathBuf>,
    policy: &Policy,
    judgement: &Judgement,
) -> Result<(Exit, Option<Comparison>)> {
    let store = Store::here();
    let before = session::load(Some(before), &store)?;
    let after = session::load(after.map(PathBuf::as_path), &store)?;
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
    let objections = objections(before, after);
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
