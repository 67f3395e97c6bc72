//! Checks whether two sessions can be compared. The ticks of two machines have different units.

use std::collections::BTreeSet;

use tsc_report::__private::rates_differ;
use tsc_report::Report;

use super::policy::Policy;
use crate::progress::counted;
use crate::rows::path;
use crate::session::{About, Session};
use crate::statistics::{median, range};

/// A closure without a row is noticed if it has this share of the other side's self time. Few ticks may decide whether it has one.
const NOTICEABLE: f64 = 0.001;

/// Beside so much more load, the caches are not the program's own.
const LOAD: f64 = 1.5;

/// How many times its CPU time the median run took, without what it was blocked: what is more than once is waiting for a CPU.
fn load(session: &Session) -> Option<f64> {
    let waiting = session.runs.iter().filter_map(Report::waiting_by_cpu);
    median(&waiting.map(|waiting| 1.0 + waiting).collect::<Vec<f64>>())
}

/// The reasons why the sessions cannot be compared. Usually there are none. Counts do not depend on the machine.
#[must_use]
pub fn objections(before: &Session, after: &Session, policy: &Policy) -> Vec<String> {
    let mut objections = Vec::from_iter(sums([before, after]));
    if policy.metric().is_count() {
        return objections;
    }
    let mut differ = |what: &str, of: fn(&Report) -> Option<String>| {
        let [before, after] = [before, after].map(|session| {
            let set: BTreeSet<String> = session.runs.iter().filter_map(of).collect();
            set.into_iter().collect::<Vec<_>>().join(" and ")
        });
        if before != after && !before.is_empty() && !after.is_empty() {
            objections.push(format!("{what} differs: {before} before, {after} after"));
        }
    };
    differ("the CPU", |run| {
        run.machine().cpu().or(run.clock().cpu()).map(str::to_owned)
    });
    differ("the clock", |run| {
        Some(run.clock().source().to_owned()).filter(|source| !source.is_empty())
    });
    differ("the architecture", |run| {
        run.machine().arch().map(str::to_owned)
    });
    // Beside light probes, the ticks of a clock tell the time of every function, and only a part of what probes cost is subtracted.
    differ("the kind of probe", |run| {
        let kind = run.tick_clock().map_or("timed", |_| "light");
        (!run.callsites().is_empty()).then(|| kind.to_owned())
    });
    objections.extend(left_out([before, after]));
    objections.extend(probes(before, after));
    objections.extend(rates(before, after));
    objections.extend(loads(before, after));
    objections.extend([before, after].into_iter().filter_map(clock));
    objections
}

/// A file is one run, also if it is the sum of many, whose figures are then those of all.
fn sums(sessions: [&Session; 2]) -> Option<String> {
    let processes = sessions.map(|session| {
        let processes = session.runs.iter().map(Report::processes);
        processes.max().unwrap_or(0)
    });
    let [old, new] = processes.map(|processes| counted(processes as usize, "process"));
    let [before, after] = sessions;
    let has_sum = sessions.iter().any(|session| {
        let mut runs = session.runs.iter().zip(&session.folders);
        runs.any(|(run, name)| run.processes() > 1 && (name.is_empty() || name.ends_with(".json")))
    });
    (has_sum && old != new).then(|| {
        format!(
            "a run is {old} in {}, {new} in {}: a file is one run, also the sum that `merge` or `export --json` writes; name the session or its \
             folder instead",
            before.label, after.label
        )
    })
}

/// What `--only` or a variable has left out on one side has its time in other rows there.
fn left_out(sessions: [&Session; 2]) -> Option<String> {
    let differ = measured_once(sessions, 0.0, |of| {
        of.runs.iter().flat_map(Report::left_out).collect()
    });
    (!differ.is_empty()).then(|| format!("only one side has measured {}", differ.join(", ")))
}

/// What one of the sessions has left out, and the other has measured, with at least this share of all self time.
fn measured_once<'a>(
    sessions: [&'a Session; 2],
    least: f64,
    left_out: impl Fn(&'a Session) -> BTreeSet<&'a String>,
) -> Vec<String> {
    let [before, after] = sessions;
    let names = |[of, other]: [&'a Session; 2]| {
        let rows = other.runs.iter().flat_map(|run| {
            let least = least * run.self_sum();
            let rows = run.callsites().iter();
            rows.filter(move |row| row.own() >= least)
        });
        let measured: BTreeSet<String> = rows.map(path).collect();
        let differ = &left_out(of) - &left_out(other);
        let differ = differ.into_iter().filter(|name| measured.contains(*name));
        differ.cloned().collect::<Vec<String>>()
    };
    [names([before, after]), names([after, before])].concat()
}

/// Where `run --all` has left out other functions, their time is in other rows.
fn probes(before: &Session, after: &Session) -> Option<String> {
    let (old, new) = (before.about.as_ref()?, after.about.as_ref()?);
    let of = |about: &About| about.without.iter().cloned().collect::<BTreeSet<String>>();
    let mut differ: Vec<String> = of(old).symmetric_difference(&of(new)).cloned().collect();
    differ.extend(measured_once([before, after], NOTICEABLE, |of| {
        of.about.iter().flat_map(|about| &about.inner).collect()
    }));
    match old.all == new.all {
        false => Some("one is of `run --all`, the other is not".to_owned()),
        true => (!differ.is_empty()).then(|| {
            format!(
                "`run --all` left these out on one side only: {}",
                differ.join(", ")
            )
        }),
    }
}

fn rates(before: &Session, after: &Session) -> Option<String> {
    let runs = before.runs.iter().chain(&after.runs);
    let rates: Vec<f64> = runs.filter_map(|run| run.clock().hz()).collect();
    let (least, greatest) = range(&rates);
    rates_differ(least, greatest).then(|| {
        format!(
            "the counter's rate differs: {:.1} to {:.1} MHz",
            least / 1e6,
            greatest / 1e6
        )
    })
}

fn loads(before: &Session, after: &Session) -> Option<String> {
    let (old, new) = (load(before)?, load(after)?);
    let differ = !before.is_in_turns_with(after) && (new / old).max(old / new) > LOAD;
    differ.then(|| {
        format!(
            "the load differs: with waiting for a CPU, a run took {old:.1} × its CPU time in {}, {new:.1} × in {}; measure again, or in turns \
             with `cargo tsc ab`",
            before.label, after.label
        )
    })
}

fn clock(session: &Session) -> Option<String> {
    let mut clocks = session.runs.iter().map(Report::clock);
    let clock = clocks.find(|clock| clock.distrusted())?;
    let why = clock.warnings().first().or(clock.doubtful().first());
    let why = why.map_or("its ticks are no measure of time", String::as_str);
    Some(format!(
        "the clock of {} is not trusted: {why}",
        session.label
    ))
}
