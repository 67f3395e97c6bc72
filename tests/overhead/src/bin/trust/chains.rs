//! Chains of multiplications, whose time is taken beside: is it within what the report says of its means?

use std::hint::black_box;

use tsc_runtime::tsc::{Lfence, Pair, elapsed};
use tsc_runtime::{affinity, cycles};

use crate::table::{median, quartiles};
use crate::target;

const RUNS: usize = 20;
const CALLS: u32 = 4_000;

/// `LENGTH` multiplications, each waiting for the one before.
#[inline(always)]
fn chain<const LENGTH: u32>(mut value: u64) -> u64 {
    // SAFETY: multiplies a register.
    unsafe {
        std::arch::asm!(
            ".rept {1}",
            "imul {0}, {0}",
            ".endr",
            inout(reg) value,
            const LENGTH,
            options(nostack)
        );
    }
    value
}

#[cycles(name = "trust: chain of 0")]
#[inline(never)]
fn chain_of_0(value: u64) -> u64 {
    value
}

#[cycles(name = "trust: chain of 100")]
#[inline(never)]
fn chain_of_100(value: u64) -> u64 {
    chain::<100>(value)
}

#[cycles(name = "trust: chain of 1000")]
#[inline(never)]
fn chain_of_1000(value: u64) -> u64 {
    chain::<1000>(value)
}

/// Ticks of one multiplication: a run of 40 times 100 in a row between one pair of reads, less a run of 20 times.
fn true_ticks() -> f64 {
    let run = |length: u32| {
        let start = Lfence::start();
        let mut value = black_box(3);
        for _ in 0..length {
            value = chain::<100>(value);
        }
        black_box(value);
        elapsed(start, Lfence::stop()) as f64
    };
    (run(40) - run(20)) / 2000.0
}

/// The name, the multiplications.
const CHAINS: [(&str, u32); 3] = [
    ("trust: chain of 0", 0),
    ("trust: chain of 100", 100),
    ("trust: chain of 1000", 1000),
];

/// What one run says of one chain.
struct Outcome {
    error: f64,
    bound: f64,
    std_error: f64,
    /// What of the mean the report calls stolen.
    stolen: f64,
}

impl Outcome {
    fn within(&self, error: f64) -> bool {
        error.abs() <= 3.0 * self.std_error + self.bound
    }
}

fn outcomes() -> [Option<Outcome>; CHAINS.len()] {
    tsc_runtime::reset();
    let (mut value, mut truths) = (3, Vec::new());
    for call in 0..CALLS {
        value = chain_of_1000(chain_of_100(chain_of_0(value)));
        if call % 10 == 0 {
            truths.push(true_ticks());
        }
    }
    black_box(value);
    let truth = median(truths);
    let report = tsc_runtime::snapshot();
    CHAINS.map(|(name, length)| {
        let callsite = report.callsite(name)?;
        let overheads = report.clock().overheads().iter();
        let bound = overheads
            .filter(|overhead| overhead.fence() == callsite.fence())
            .map(tsc_runtime::FenceOverhead::visible_error_ticks)
            .next()?;
        let (mean, std_error) = (callsite.mean_ticks()?, callsite.std_error_ticks()?);
        let error = mean - f64::from(length) * truth;
        let stolen = callsite.stolen_share().unwrap_or(0.0) * callsite.total_ticks();
        Some(Outcome {
            error,
            bound,
            std_error,
            stolen: stolen / callsite.samples() as f64,
        })
    })
}

pub(crate) fn run(cpu: usize) {
    let pinned = affinity::pin(cpu);
    if let Err(error) = &pinned {
        eprintln!("trust: {error}");
    }
    let runs: Vec<_> = (0..RUNS).map(|_| outcomes()).collect();
    for (index, (_, length)) in CHAINS.iter().enumerate() {
        let of = || runs.iter().filter_map(|run| run[index].as_ref());
        let within = of().filter(|of| of.within(of.error)).count();
        let within_less_gaps = of().filter(|of| of.within(of.error - of.stolen)).count();
        let typical = |figure: fn(&Outcome) -> f64| median(of().map(figure).collect());
        let [low, middle, high] = quartiles(of().map(|outcome| outcome.error).collect());
        target::print(
            &format!("{length} dependent imul: the true time is within mean ± 3 s.e. ± bound"),
            "≥ 19 of 20 runs",
            format!(
                "{within} of {RUNS}, off by {middle:+.1} ({low:+.1} … {high:+.1}) ticks; less what the report calls stolen, \
                 {within_less_gaps} of {RUNS}, off by {:+.1}; s.e. {:.1}, bound {:.1}",
                typical(|of| of.error - of.stolen),
                typical(|of| of.std_error),
                typical(|of| of.bound),
            ),
            within >= 19,
        );
    }
}
