//! Callgrind's profile format, for KCachegrind and callgrind_annotate: <https://valgrind.org/docs/manual/cl-format.html>.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use tsc_runtime::{CallsiteReport, Report};

use super::stacks::{require, whole};
use crate::rows::{path, self_ticks};

/// Calls from one callsite to another, and what they took.
type Arcs = BTreeMap<(u64, u64), (u64, f64)>;

/// Each function's own ticks, and each caller's calls with theirs.
pub fn text(report: &Report) -> Result<String> {
    require(report)?;
    let arcs = arcs(report);
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
        report.process().argv().join(" ")
    )?;
    writeln!(
        text,
        "positions: line\nevent: Ticks : Ticks of the time-stamp counter\nevents: Ticks"
    )?;
    for (index, row) in (0..).zip(report.callsites()) {
        writeln!(
            text,
            "\nfl={}\nfn={}\n{} {}",
            row.file(),
            path(row),
            row.line(),
            whole(self_ticks(row))
        )?;
        for (&(_, callee), &(calls, ticks)) in arcs.range((index, 0)..=(index, u64::MAX)) {
            let callee: &CallsiteReport = &report.callsites()[callee as usize];
            writeln!(
                text,
                "cfi={}\ncfn={}\ncalls={calls} {}",
                callee.file(),
                path(callee),
                callee.line()
            )?;
            writeln!(text, "{} {}", row.line(), whole(ticks))?;
        }
    }
    let all: i64 = report
        .callsites()
        .iter()
        .map(|row| whole(self_ticks(row)))
        .sum();
    writeln!(text, "\ntotals: {all}")?;
    Ok(text)
}

fn arcs(report: &Report) -> Arcs {
    let mut arcs = Arcs::new();
    for context in report.contexts() {
        let caller = context
            .parent()
            .and_then(|parent| report.contexts()[parent as usize].callsite());
        if let (Some(caller), Some(callee)) = (caller, context.callsite()) {
            let arc = arcs.entry((caller, callee)).or_default();
            arc.0 += context.calls();
            arc.1 += context.on_cpu_ticks().unwrap_or(context.total_ticks());
        }
    }
    arcs
}
