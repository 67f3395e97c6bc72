//! A function that calls a sleeping one: which of them does the sleep count for?

use std::thread;
use std::time::Duration;

use tsc_runtime::{CallsiteReport, cycles};

use super::row;
use overhead::target;

#[cycles(name = "trust: calls one that sleeps")]
#[inline(never)]
fn outer() {
    inner();
    inner();
}

#[cycles(name = "trust: sleeps inside")]
#[inline(never)]
fn inner() {
    thread::sleep(Duration::from_millis(2));
}

pub(super) fn run() {
    (0..200).for_each(|_| outer());
    let rows = row("trust: calls one that sleeps").zip(row("trust: sleeps inside"));
    let figures = rows.and_then(|(outer, inner)| {
        let off = |row: &CallsiteReport| Some(row.total_ticks() - row.on_cpu_ticks()?);
        let own_off = |row: &CallsiteReport| Some(row.self_ticks() - row.self_on_cpu_ticks()?);
        let all = off(&inner)?;
        Some([
            outer.blocked_ticks()? / inner.blocked_ticks()?,
            own_off(&inner)? / all,
            own_off(&outer)? / all,
        ])
    });
    let Some([inclusive, own, callers]) = figures else {
        return target::print("nested", "", "not known here".to_owned(), false);
    };
    target::print(
        "an outer function calls one that sleeps: its blocked ÷ that one's; time off the CPU in the sleeping one's self, and in the outer one's",
        "1 ± 0.01; 1; 0 ± 0.01",
        format!("{inclusive:.4}; {own:.4}; {callers:.4}"),
        (inclusive - 1.0).abs() <= 0.01 && (own - 1.0).abs() <= 0.01 && callers.abs() <= 0.01,
    );
}
