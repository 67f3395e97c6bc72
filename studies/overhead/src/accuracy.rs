//! Compares net means with the true times, which are measured beside them.

use std::hint::black_box;

use tsc_runtime::cycles;
use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};

use overhead::table::{heading, quartiles, row};

const RUNS: usize = 41;
const CALLS: u32 = 4_000;

/// 100 dependent multiplications: 300 core cycles on every x86-64 core of the last 15 years.
#[inline(always)]
fn chain(mut value: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: multiplies a register.
    unsafe {
        std::arch::asm!(".rept 100", "imul {0}, {0}", ".endr", inout(reg) value, options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    for _ in 0..100 {
        value = black_box(value.wrapping_mul(value));
    }
    value
}

#[cycles(name = "overhead: chain")]
#[inline(never)]
fn annotated_chain(value: u64) -> u64 {
    chain(value)
}

#[cycles(name = "overhead: empty")]
#[inline(never)]
fn empty(value: u64) -> u64 {
    value
}

/// Ticks of one chain: a run of 40 in a row between one pair of reads, less a run of 20.
fn true_ticks() -> f64 {
    let run = |length: u32| {
        let start = Lfence::start();
        let mut value = black_box(3);
        for _ in 0..length {
            value = chain(value);
        }
        black_box(value);
        elapsed(start, Lfence::stop()) as f64
    };
    (run(40) - run(20)) / 20.0
}

pub(crate) fn run() {
    let (mut empties, mut errors) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        tsc_runtime::reset();
        let mut truths = Vec::new();
        let mut value = 3;
        for call in 0..CALLS {
            value = annotated_chain(empty(value));
            if call % 40 == 0 {
                truths.push(true_ticks());
            }
        }
        black_box(value);
        let report = tsc_runtime::snapshot();
        let mean = |name| {
            report
                .callsite(name)
                .and_then(|callsite| callsite.mean_ticks())
        };
        let truth = quartiles(truths)[1];
        empties.extend(mean("overhead: empty"));
        errors.extend(mean("overhead: chain").map(|mean| mean - truth));
    }
    heading("Accuracy, net means", &["what", "median", "quartiles"]);
    for (name, values) in [
        ("empty function, ticks", empties),
        ("100 dependent imul: net mean − true time, ticks", errors),
    ] {
        let [low, middle, high] = quartiles(values);
        row(&[
            name.to_owned(),
            format!("{middle:+.1}"),
            format!("{low:+.1} … {high:+.1}"),
        ]);
    }
}
