//! fib(20) with every call annotated: how much of the probes' cost does the correction remove from net ticks?

use std::hint::black_box;

use tsc_runtime::cycles;
use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};

use overhead::table::{heading, quartiles, row};

const RUNS: usize = 41;
const N: u32 = 20;

#[inline(never)]
fn bare_fib(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        bare_fib(n - 1) + bare_fib(n - 2)
    }
}

#[cycles(name = "overhead: fib")]
#[inline(never)]
fn fib(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        fib(n - 1) + fib(n - 2)
    }
}

fn ticks(function: fn(u32) -> u64) -> f64 {
    let start = Lfence::start();
    black_box(black_box(function)(black_box(N)));
    elapsed(start, Lfence::stop()) as f64
}

pub(crate) fn run() {
    fib(N);
    let mut columns: [Vec<f64>; 4] = Default::default();
    for _ in 0..RUNS {
        tsc_runtime::reset();
        let bare = ticks(bare_fib);
        let raw = ticks(fib);
        let report = tsc_runtime::snapshot();
        let net = report
            .callsite("overhead: fib")
            .map_or(f64::NAN, |fib| fib.total_ticks());
        let removed = 1.0 - (net - bare) / (raw - bare);
        for (column, value) in columns.iter_mut().zip([bare, raw, net, removed]) {
            column.push(value);
        }
    }
    heading(
        "fib(20), 21 891 annotated calls",
        &["what", "median", "quartiles"],
    );
    let names = [
        "bare, ticks",
        "annotated, raw, ticks",
        "annotated, net, ticks",
        "share of the probes' cost that net removes",
    ];
    for ((name, column), digits) in names.into_iter().zip(columns).zip([0, 0, 0, 3]) {
        let [low, middle, high] = quartiles(column);
        row(&[
            name.to_owned(),
            format!("{middle:.digits$}"),
            format!("{low:.digits$}–{high:.digits$}"),
        ]);
    }
}
