//! How fast the core runs: core cycles per tick of the TSC.
//!
//! The TSC always ticks at the same rate. The core clock depends on load, temperature and the neighbouring cores, and a guest of a
//! hypervisor cannot read it. It is measured without privileges, by work whose length in core cycles is known: a chain of N dependent
//! additions and one of 2N differ by N cycles, and the overhead cancels out. In the same round a chain of multiplications is measured. A
//! multiplication must take three times as long as an addition. If it does not (in an emulator, or on an unknown core), it is unknown how
//! many cycles an addition takes, and no core clock is reported.
//!
//! The core clock varies by several percent during a program's run, so one measurement is not enough. A burst of rounds is measured when
//! the first callsite registers and at every report; the result is the median of all bursts, with their range. If the core's own cycle
//! counter can be read without privileges (RDPRU on AMD's CPUs, the PMU with the feature `pmu`), it counts the cycles of the same chains,
//! and its result is used if it agrees with that of the chains.

use parking_lot::Mutex;

use crate::calibration::reference_chain::{
    self, LEAST_BLOCKS, LINKS_PER_BLOCK, additions, multiplications, undisturbed,
};
use crate::calibration::statistics::{median, median_of_sorted};
use crate::machine::{Emulator, emulator};
use crate::random::Random;
use crate::tsc::{clock, elapsed};
use tsc_report::__private::{data, named, reasons};

#[cfg_attr(
    not(all(feature = "pmu", target_os = "linux", not(miri))),
    path = "absent.rs"
)]
mod pmu;
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), path = "absent.rs")]
mod rdpru;

data! {
    /// The core clock during the time in which this program measured.
    #[derive(Copy)]
    pub struct CoreClock {
        /// Core cycles per tick of the counter: the median of the latest bursts, at most 256.
        cycles_per_tick: f64,
        /// The cycles per tick of the slowest burst.
        lowest: f64,
        /// The cycles per tick of the fastest burst.
        highest: f64,
        /// The number of bursts.
        bursts: u32,
        /// How the core cycles of the latest burst were counted.
        source: CycleSource,
    }
}

impl CoreClock {
    /// Summarises these bursts, of which there is at least one.
    fn of(mut bursts: Vec<f64>, source: CycleSource) -> Self {
        bursts.sort_unstable_by(f64::total_cmp);
        Self {
            cycles_per_tick: median_of_sorted(&bursts).unwrap_or(0.0),
            lowest: bursts[0],
            highest: bursts[bursts.len() - 1],
            bursts: bursts.len() as u32,
            source,
        }
    }

    /// The median, lowest and highest core clock in GHz, if `hz` is the counter's rate.
    #[must_use]
    pub fn ghz(&self, hz: f64) -> [f64; 3] {
        [self.cycles_per_tick, self.lowest, self.highest].map(|ratio| ratio * hz / 1e9)
    }
}

named! {
    /// How the core cycles were counted.
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    #[non_exhaustive]
    pub enum CycleSource {
        /// Chains of dependent additions, checked against multiplications.
        ReferenceChain = "reference chain",
        /// The core's own cycle counter, read by RDPRU and checked against the chain.
        Rdpru = "RDPRU",
        /// The performance monitoring unit (PMU), read by `perf_event_open` (feature `pmu`) and checked against the chain.
        Pmu = "the PMU",
    }
}

reasons! {
    /// Why the core clock is not known. Ticks are not affected.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub enum CoreClockError {
        /// There is no instruction sequence of known length on this architecture.
        Unavailable = ("no instruction sequence of known length on this architecture"),
        /// The counter is not read on this machine, or instructions are emulated.
        NotTheCpusTime = ("instructions are emulated or the counter is not read"),
        /// Too many rounds were interrupted.
        Disturbed = ("interrupted too often"),
        /// A multiplication did not take three times as long as an addition, so it is unknown how many cycles either takes on this core.
        CrossCheckFailed {
            /// The duration of a multiplication divided by that of an addition.
            times: f64,
        } = ("a multiplication took as long as {times:.2} additions instead of 3, so their length in core cycles is not known here"),
    }
}

/// The blocks of the shorter chain in a round; the longer chain has twice as many. A multiplication takes 3 cycles, so a third as many
/// blocks take about as long.
const SHORT: u64 = LEAST_BLOCKS;
const SHORT_MULTIPLICATIONS: u64 = SHORT / 3;
/// The rounds of a full burst, which takes about 0.5 ms.
const ROUNDS: usize = 33;
const MOST_BURSTS_TRIED: u32 = 4;
/// The rounds in which a cycle counter is read, if there is one.
const COUNTED_ROUNDS: usize = 9;
/// How far the ratio of multiplications to additions may differ from 3. A core that executes an addition at register renaming, or an
/// emulator, differs far more.
const TOLERANCE: f64 = 0.03;

/// The burst at the first callsite: as much as fits into some microseconds. The cross-check with multiplications is left to the report.
const FIRST_SHORT: u64 = 1;
const FIRST_ROUNDS: usize = 5;
/// If the first burst is so many times the second, which is checked, it was disturbed: its short runs took longer, and the difference to the
/// long ones less.
const DISTURBED: f64 = 2.0;

/// The bursts so far, in cycles per tick.
static BURSTS: Mutex<Vec<f64>> = Mutex::new(Vec::new());
/// The most bursts that are kept. After that, each new burst replaces the oldest one.
const MOST_BURSTS: usize = 256;

/// Takes the first, short burst, unless one has been taken.
pub(crate) fn first_reading() {
    if !reference_chain::AVAILABLE || clock::availability().is_err() {
        return;
    }
    if let Some(mut bursts) = BURSTS.try_lock()
        && bursts.is_empty()
    {
        let mut jitter = Random::for_waits();
        let cycles = (2 * FIRST_SHORT * LINKS_PER_BLOCK) as f64;
        let rounds = (0..FIRST_ROUNDS).map(|_| difference(additions, FIRST_SHORT, &mut jitter));
        let rounds = rounds.filter(|&ticks| ticks > 0);
        bursts.extend(median(rounds.map(|ticks| cycles / ticks as f64).collect()));
    }
}

/// Measures a burst now, which takes about a millisecond, and returns the core clock from it and all earlier ones.
///
/// ```
/// # #[cfg(feature = "on")] // the module is private otherwise
/// match tsc_runtime::core_clock() {
///     Ok(clock) => println!("{:.2} core cycles per tick", clock.cycles_per_tick()),
///     Err(error) => println!("the core clock is not known: {error}"),
/// }
/// ```
///
/// # Errors
///
/// The reason why the core clock is not known.
pub fn core_clock() -> Result<CoreClock, CoreClockError> {
    if !reference_chain::AVAILABLE {
        return Err(CoreClockError::Unavailable);
    }
    if clock::availability().is_err() || emulator().is_some_and(Emulator::distorts_times) {
        return Err(CoreClockError::NotTheCpusTime);
    }
    let again = |latest: Result<_, _>, _| latest.or_else(|_| burst());
    let (ratio, source) = (1..MOST_BURSTS_TRIED).fold(burst(), again)?;
    let mut all = vec![ratio];
    if let Some(mut bursts) = BURSTS.try_lock() {
        add(&mut bursts, ratio);
        all.clone_from(&bursts);
    }
    Ok(CoreClock::of(all, source))
}

fn add(bursts: &mut Vec<f64>, ratio: f64) {
    if bursts.len() == 1 && bursts[0] > DISTURBED * ratio || bursts.len() == MOST_BURSTS {
        bursts.remove(0);
    }
    bursts.push(ratio);
}

/// The ticks of one round: how much longer `2 * short` blocks take than `short` blocks, summed over two runs. The runs are in mirrored
/// order, so that an even change of the core clock cancels out, and begin at any point between two steps of the counter.
fn difference(chain: fn(u64) -> i64, short: u64, jitter: &mut Random) -> i64 {
    let mut run = |blocks| {
        jitter.wait();
        chain(blocks)
    };
    let first = run(short);
    let long = run(2 * short) + run(2 * short);
    long - first - run(short)
}

fn burst() -> Result<(f64, CycleSource), CoreClockError> {
    let mut jitter = Random::for_waits();
    let rounds = [(); ROUNDS].map(|()| {
        let adds = difference(additions, SHORT, &mut jitter);
        let multiplies = difference(multiplications, SHORT_MULTIPLICATIONS, &mut jitter);
        [adds, multiplies]
    });
    let by_chain = evaluate(&rounds)?;
    let agrees = |counted: &f64| (counted / by_chain - 1.0).abs() < TOLERANCE;
    let by_pmu = pmu::counter().and_then(|it| counted(it, additions).filter(agrees));
    let by_rdpru = || rdpru::counter().and_then(|it| counted(it, additions).filter(agrees));
    let by_pmu = by_pmu.map(|ratio| (ratio, CycleSource::Pmu));
    let counted = by_pmu.or_else(|| Some((by_rdpru()?, CycleSource::Rdpru)));
    Ok(counted.unwrap_or((by_chain, CycleSource::ReferenceChain)))
}

/// The cycles per tick, from a cycle counter and a chain, which returns its ticks. The count for a chain of N is subtracted from that for
/// 2N, so that the cost of reading the cycle counter cancels out.
fn counted(
    mut cycles: impl FnMut() -> Option<u64>,
    mut chain: impl FnMut(u64) -> i64,
) -> Option<f64> {
    let mut leg = |blocks: u64| {
        let before = cycles()?;
        let ticks = chain(blocks);
        Some([elapsed(before, cycles()?), ticks])
    };
    let mut round = || {
        let legs = [leg(SHORT)?, leg(2 * SHORT)?, leg(2 * SHORT)?, leg(SHORT)?];
        let [cycles, ticks] =
            [0, 1].map(|of| legs[1][of] + legs[2][of] - legs[0][of] - legs[3][of]);
        (cycles > 0 && ticks > 0).then(|| cycles as f64 / ticks as f64)
    };
    median((0..COUNTED_ROUNDS).filter_map(|_| round()).collect())
}

/// The cycles per tick, from the ticks of additions and of multiplications in each round.
fn evaluate(rounds: &[[i64; 2]]) -> Result<f64, CoreClockError> {
    let kept = undisturbed(rounds, |round| round[0] as f64);
    let kept = undisturbed(&kept, |round| round[1] as f64);
    if kept.is_empty() || kept.len() * 2 < rounds.len() {
        return Err(CoreClockError::Disturbed);
    }
    let [adds, multiplies] =
        [0, 1].map(|which| kept.iter().map(|round| round[which]).sum::<i64>() as f64);
    let links = |short: u64| (2 * short * LINKS_PER_BLOCK) as f64 * kept.len() as f64;
    let times = (multiplies / links(SHORT_MULTIPLICATIONS)) / (adds / links(SHORT));
    if (times / 3.0 - 1.0).abs() > TOLERANCE {
        return Err(CoreClockError::CrossCheckFailed { times });
    }
    Ok(links(SHORT) / adds)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Rounds of a core that runs 1.4 cycles per tick and multiplies in `times` cycles. Every fifth round is interrupted.
    fn rounds(times: f64) -> Vec<[i64; 2]> {
        let adds = (2 * SHORT * LINKS_PER_BLOCK) as f64 / 1.4;
        let multiplies = (2 * SHORT_MULTIPLICATIONS * LINKS_PER_BLOCK) as f64 * times / 1.4;
        (0..33)
            .map(|i| {
                let noise = f64::from(i % 7 - 3) * 0.005 + 1.0;
                let interrupt = if i % 5 == 0 {
                    f64::from(i - 10) * 9_000.0
                } else {
                    0.0
                };
                [
                    (adds * noise + interrupt) as i64,
                    (multiplies * noise) as i64,
                ]
            })
            .collect()
    }

    #[test]
    fn clock_is_found_through_interrupted_rounds() {
        let ratio = evaluate(&rounds(3.0)).unwrap();
        assert!((ratio / 1.4 - 1.0).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn core_that_is_not_understood_is_refused() {
        for times in [1.0, 2.8, 4.0, 17.6] {
            let error = evaluate(&rounds(times)).unwrap_err();
            assert!(
                matches!(error, CoreClockError::CrossCheckFailed { .. }),
                "{error}"
            );
        }
        assert_eq!(evaluate(&[]), Err(CoreClockError::Disturbed));
        assert_eq!(evaluate(&[[0, 0]; 33]), Err(CoreClockError::Disturbed));
        assert_eq!(evaluate(&[[-5, 7]; 33]), Err(CoreClockError::Disturbed));
        let wild: Vec<[i64; 2]> = (1..34).map(|i| [i * i * 1000, i * 1000]).collect();
        assert_eq!(evaluate(&wild), Err(CoreClockError::Disturbed));
    }

    #[test]
    fn counter_of_cycles_is_read_without_its_cost() {
        // A core that runs 1.4 cycles per tick, with a cycle counter that takes 500 ticks to read. One chain in 16 is interrupted.
        let (now, chains) = (Cell::new(0_u64), Cell::new(0));
        let pass = |ticks| now.set(now.get() + ticks);
        let cycles = || {
            pass(500);
            Some(now.get() * 14 / 10)
        };
        let chain = |blocks: u64| {
            chains.set(chains.get() + 1);
            let ticks = blocks * 1000 + if chains.get() % 16 == 3 { 90_000 } else { 0 };
            pass(ticks);
            ticks.cast_signed()
        };
        let ratio = counted(cycles, chain).unwrap();
        assert!((ratio / 1.4 - 1.0).abs() < 0.001, "{ratio}");
        assert_eq!(counted(|| None, chain), None);
        assert_eq!(counted(|| Some(7), chain), None);
    }

    #[test]
    fn latest_bursts_are_kept_and_a_disturbed_first_one_is_not() {
        let mut bursts = vec![9.0];
        add(&mut bursts, 1.0);
        assert_eq!(bursts, [1.0]);
        (0..2 * MOST_BURSTS).for_each(|_| add(&mut bursts, 1.5));
        assert_eq!(bursts, [1.5; MOST_BURSTS]);
    }

    #[test]
    fn clock_is_the_median_of_the_bursts_with_their_range() {
        let of = |bursts: &[f64]| {
            let clock = CoreClock::of(bursts.to_vec(), CycleSource::ReferenceChain);
            let range = [clock.lowest, clock.cycles_per_tick, clock.highest];
            (range, clock.bursts)
        };
        assert_eq!(of(&[1.5]), ([1.5; 3], 1));
        assert_eq!(of(&[1.75, 1.25]), ([1.25, 1.5, 1.75], 2));
        assert_eq!(of(&[2.0, 1.0, 1.25]), ([1.0, 1.25, 2.0], 3));
    }
}
