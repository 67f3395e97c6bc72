//! Callgrind's profile format, for KCachegrind and callgrind_annotate: <https://valgrind.org/docs/manual/cl-format.html>.
//!
//! Readers of this format compute a function's inclusive ticks from the ticks of its callers' calls. So a function [`ROOT`] is added that
//! calls the functions without a caller. The ticks of a call are the sum of the self ticks of all contexts below it, so that they add up
//! on every level, and to the total.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use tsc_report::Report;

use crate::rows::path;
use crate::stacks::{OTHER, line_of_text, whole_ticks};

/// The name of the function that represents the program's threads.
const ROOT: &str = "<root>";
/// The name that readers of the format show if there is no file.
const NO_FILE: &str = "???";

/// Writes each function's self ticks, and each caller's calls with their ticks.
pub fn text(report: &Report) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "# callgrind format\nversion: 1\ncreator: cargo-tsc {}",
        env!("CARGO_PKG_VERSION")
    )?;
    writeln!(
        text,
        "pid: {}\ncmd: {}",
        report.process().pid(),
        line_of_text(&report.process().argv().join(" "))
    )?;
    writeln!(
        text,
        "positions: line\nevent: Ticks : Ticks of the time-stamp counter\nevents: Ticks"
    )?;
    let functions = functions(report);
    for (position, function) in &functions {
        writeln!(
            text,
            "\nfl={}\nfn={}\n{} {}",
            position.file, position.name, position.line, function.own
        )?;
        for (callee, arc) in &function.callees {
            writeln!(
                text,
                "cfi={}\ncfn={}\ncalls={} {}\n{} {}",
                callee.file,
                callee.name,
                // A call that is still running is not counted, but some ticks inside it may be known. The format has no ticks without
                // calls.
                arc.calls.max(1),
                callee.line,
                position.line,
                arc.ticks
            )?;
        }
    }
    let own = functions.values().map(|function| function.own);
    let all = own.fold(0, i64::saturating_add);
    writeln!(text, "\ntotals: {all}")?;
    Ok(text)
}

/// A function's position in the source, by which the format identifies it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    file: String,
    name: String,
    line: u32,
}

#[derive(Default)]
struct Function {
    own: i64,
    callees: BTreeMap<Position, Arc>,
}

/// The calls from one function to another, and their ticks.
#[derive(Default)]
struct Arc {
    calls: u64,
    ticks: i64,
}

fn functions(report: &Report) -> BTreeMap<Position, Function> {
    let contexts = report.contexts();
    let positions: Vec<Position> = contexts
        .iter()
        .map(|context| match report.callsite_of(context) {
            Some(row) => Position {
                file: line_of_text(row.file()),
                name: line_of_text(&path(row)),
                line: row.line(),
            },
            None => nowhere(OTHER),
        })
        .collect();
    let mut ticks: Vec<i64> = contexts
        .iter()
        .map(|context| whole_ticks(context.self_ticks()))
        .collect();
    let mut functions = BTreeMap::<Position, Function>::new();
    for (position, &own) in positions.iter().zip(&ticks) {
        let known = &mut functions.entry(position.clone()).or_default().own;
        *known = known.saturating_add(own);
    }
    // Callees come after their callers. In this order, everything has been added to a caller before it is read.
    for (index, context) in contexts.iter().enumerate().rev() {
        let caller = match context.parent() {
            Some(parent) => {
                ticks[parent as usize] = ticks[parent as usize].saturating_add(ticks[index]);
                positions[parent as usize].clone()
            }
            None => nowhere(ROOT),
        };
        let callees = &mut functions.entry(caller).or_default().callees;
        let arc = callees.entry(positions[index].clone()).or_default();
        arc.calls = arc.calls.saturating_add(context.calls().unwrap_or(0));
        arc.ticks = arc.ticks.saturating_add(ticks[index]);
    }
    functions
}

fn nowhere(name: &str) -> Position {
    Position {
        file: NO_FILE.to_owned(),
        name: name.to_owned(),
        line: 0,
    }
}
