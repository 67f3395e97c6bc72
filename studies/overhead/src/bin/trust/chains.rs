//! Chains of multiplications, whose true time is measured beside them: is it within the error bounds that the report gives for its means?

use std::hint::black_box;

use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};
use tsc_runtime::{affinity, cycles};

use overhead::table::{median, quartiles};
use overhead::target;

const RUNS: usize = 20;
/// Calls of a run, in blocks. A block is so short that the core's clock mostly does not change during it.
const BLOCKS: usize = 200;
const CALLS_PER_BLOCK: usize = 20;

/// `LENGTH` multiplications, of which each needs the result of the one before.
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

/// The name, and the number of multiplications.
const CHAINS: [(&str, u32); 3] = [
    ("trust: chain of 0", 0),
    ("trust: chain of 100", 100),
    ("trust: chain of 1000", 1000),
];

/// Ticks of one multiplication: a run of 40 times 100 in a row between one pair of reads, less a run of 20 times.
fn ticks_now() -> f64 {
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

/// Ticks of one multiplication while the calls were made. A measurement follows each call.
struct Truth {
    ticks: f64,
    std_error: f64,
}

impl Truth {
    /// The mean of the blocks' medians. Medians, because the machine interrupts these measurements, too. Their mean, because the mean of the
    /// calls follows the core's clock as well.
    fn new(blocks: &[f64]) -> Self {
        let count = blocks.len() as f64;
        let steps = blocks.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
        // Half the mean square of the differences between neighbouring blocks: this is the variance without the drift of the clock.
        let variance = steps.sum::<f64>() / (count - 1.0) / 2.0;
        Self {
            ticks: blocks.iter().sum::<f64>() / count,
            std_error: (variance / count).sqrt(),
        }
    }
}

/// The result of one run for one chain.
struct Outcome {
    /// The mean minus the true time.
    error: f64,
    /// The standard error of this difference.
    std_error: f64,
    /// The errors that the report states.
    systematic: f64,
    stolen: f64,
}

impl Outcome {
    /// Whether the true time is where the report says. Gaps can only make the mean too large.
    fn is_within(&self) -> bool {
        let symmetric = 3.0 * self.std_error + self.systematic;
        (-symmetric..=symmetric + self.stolen).contains(&self.error)
    }

    /// Whether the gaps explain the whole difference that they may explain.
    fn is_within_less_stolen(&self) -> bool {
        (self.error - self.stolen).abs() <= self.systematic
    }
}

fn outcomes() -> [Option<Outcome>; CHAINS.len()] {
    tsc_runtime::reset();
    let mut value = 3;
    let blocks: Vec<f64> = (0..BLOCKS)
        .map(|_| {
            let truths = (0..CALLS_PER_BLOCK).map(|_| {
                value = chain_of_1000(chain_of_100(chain_of_0(value)));
                ticks_now()
            });
            median(truths.collect())
        })
        .collect();
    black_box(value);
    let truth = Truth::new(&blocks);
    let report = tsc_runtime::snapshot();
    CHAINS.map(|(name, length)| {
        let (callsite, length) = (report.callsite(name)?, f64::from(length));
        let outcome = Outcome {
            error: callsite.mean_ticks()? - length * truth.ticks,
            std_error: callsite.std_error_ticks()?.hypot(length * truth.std_error),
            systematic: callsite.systematic_error_ticks()?,
            stolen: callsite.outlier_excess_mean_ticks()?,
        };
        if !outcome.is_within() {
            eprintln!(
                "trust: {length} imul missed: true {:.1} ± {:.1}; {callsite:#?}",
                length * truth.ticks,
                length * truth.std_error
            );
        }
        Some(outcome)
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
        let within = of().filter(|of| of.is_within()).count();
        let typical = |figure: fn(&Outcome) -> f64| median(of().map(figure).collect());
        let spread = |figure: fn(&Outcome) -> f64| {
            let [low, middle, high] = quartiles(of().map(figure).collect());
            format!("{middle:+.1} ({low:+.1} … {high:+.1})")
        };
        target::print(
            &format!(
                "{length} dependent imul: the true time is within mean ± 3 s.e. ± systematic error − stolen"
            ),
            "≥ 19 of 20 runs",
            format!(
                "{within} of {RUNS}, off by {} ticks, s.e. {:.1}, systematic {:.1}, stolen {:.1}; mean less stolen is off by {}, \
                 within ± systematic alone in {} of {RUNS}",
                spread(|of| of.error),
                typical(|of| of.std_error),
                typical(|of| of.systematic),
                typical(|of| of.stolen),
                spread(|of| of.error - of.stolen),
                of().filter(|of| of.is_within_less_stolen()).count(),
            ),
            within >= 19,
        );
    }
}
