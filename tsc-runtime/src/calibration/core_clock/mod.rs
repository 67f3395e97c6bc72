//! How fast the core runs, in its own cycles per tick of the counter.
//!
//! The counter ticks at one rate for ever; the core's clock follows load, heat and the neighbours' work, and a guest cannot see
//! it. What shows it without privileges is work whose length in core cycles is known:
//! a chain of N and one of 2N dependent additions, the difference of which is N cycles and no overhead, and in the same round a
//! chain of multiplications, which must come out three times as long. If it does not, the chain is not what it is taken for
//! (an emulator, an unknown core), and no clock is given.
//!
//! The clock wanders by several percent within a program's run, so one ratio is never enough: a burst is taken when the first
//! callsite is registered and at every report, and what is given is their median with the range. Where the core's own count of
//! cycles can be read without privileges (RDPRU on AMD's CPUs, the PMU with the feature `pmu`) it is, in the same chains, and its
//! word is taken if it agrees with them.

use std::fmt;

use parking_lot::Mutex;

use crate::calibration::reference_chain::{self, LINKS_PER_BLOCK, additions, multiplications};
use crate::calibration::statistics::median;
use crate::machine::machine;
use crate::tsc::clock;
use crate::tsc::elapsed;

#[cfg_attr(
    not(all(feature = "pmu", target_os = "linux", not(miri))),
    path = "absent.rs"
)]
mod pmu;
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), path = "absent.rs")]
mod rdpru;

/// The core's clock while this program measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CoreClock {
    /// Core cycles per tick of the counter: the median of all bursts so far.
    pub cycles_per_tick: f64,
    /// The slowest burst's cycles per tick.
    pub lowest: f64,
    /// The fastest burst's cycles per tick.
    pub highest: f64,
    /// How many bursts there were.
    pub bursts: u32,
    /// How the latest burst was counted.
    pub source: CycleSource,
}

impl CoreClock {
    /// The clock by these bursts, of which there is at least one.
    fn of(mut bursts: Vec<f64>, source: CycleSource) -> Self {
        bursts.sort_unstable_by(f64::total_cmp);
        let (count, last) = (bursts.len(), bursts.len() - 1);
        Self {
            cycles_per_tick: f64::midpoint(bursts[last / 2], bursts[count / 2]),
            lowest: bursts[0],
            highest: bursts[last],
            bursts: count as u32,
            source,
        }
    }

    /// The median, lowest and highest clock in GHz, given the counter's rate in Hz.
    #[must_use]
    pub fn ghz(&self, hz: f64) -> [f64; 3] {
        [self.cycles_per_tick, self.lowest, self.highest].map(|ratio| ratio * hz / 1e9)
    }
}

/// What the core's cycles were counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CycleSource {
    /// Chains of dependent additions, checked against multiplications.
    ReferenceChain,
    /// RDPRU, the core's own count of cycles, checked against the chain.
    Rdpru,
    /// The performance monitoring unit by `perf_event_open` (feature `pmu`), checked against the chain.
    Pmu,
}

impl fmt::Display for CycleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ReferenceChain => "reference chain",
            Self::Rdpru => "RDPRU",
            Self::Pmu => "the PMU",
        })
    }
}

/// Why the core's clock is not known. Ticks are not affected.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CoreClockError {
    /// No chain of known length on this architecture.
    Unavailable,
    /// The counter is not read here, or instructions are emulated.
    NotTheCpusTime,
    /// Too many rounds were interrupted.
    Disturbed,
    /// Multiplications did not take three times what additions take, so this core is not understood.
    CrossCheckFailed {
        /// What they took instead.
        times: f64,
    },
}

impl fmt::Display for CoreClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable => {
                f.write_str("no instruction sequence of known length on this architecture")
            }
            Self::NotTheCpusTime => {
                f.write_str("instructions are emulated or the counter is not read")
            }
            Self::Disturbed => f.write_str("interrupted too often"),
            Self::CrossCheckFailed { times } => {
                write!(
                    f,
                    "a multiplication took {times:.2} additions instead of 3, so neither is taken for cycles"
                )
            }
        }
    }
}

impl std::error::Error for CoreClockError {}

/// A round's chains: `SHORT` and twice that of additions, 3 cycles a link of multiplications, so about as long.
const SHORT: u64 = 40;
const SHORT_MULTIPLICATIONS: u64 = SHORT / 3;
/// Rounds of a full burst, some 0.5 ms.
const ROUNDS: usize = 33;
const MOST_BURSTS_TRIED: u32 = 4;
/// Rounds of a counter of cycles, where there is one.
const COUNTED_ROUNDS: usize = 9;
/// Multiplications may differ from 3 additions by this much: far less than any core that renames an addition away, or an
/// emulator, would give.
const TOLERANCE: f64 = 0.03;

/// At the first callsite: as much as fits into some microseconds, without the cross-check, which the report makes.
const FIRST_SHORT: u64 = 10;
const FIRST_ROUNDS: usize = 3;

/// The bursts so far, in cycles per tick.
static BURSTS: Mutex<Vec<f64>> = Mutex::new(Vec::new());
/// A program that reports without end keeps the first bursts and its latest.
const MOST_BURSTS: usize = 256;

/// Takes the first burst, a short one, if none was taken.
pub(crate) fn first_reading() {
    if !reference_chain::AVAILABLE || clock::availability().is_err() {
        return;
    }
    if let Some(mut bursts) = BURSTS.try_lock()
        && bursts.is_empty()
    {
        let rounds: Vec<f64> = (0..FIRST_ROUNDS)
            .filter_map(|_| cycles_per_tick(difference(additions, FIRST_SHORT), FIRST_SHORT))
            .collect();
        bursts.extend(median(rounds));
    }
}

/// The core's clock from a burst taken now, about a millisecond, and all earlier ones.
///
/// # Errors
///
/// Why it is not known.
pub fn core_clock() -> Result<CoreClock, CoreClockError> {
    if !reference_chain::AVAILABLE {
        return Err(CoreClockError::Unavailable);
    }
    if clock::availability().is_err()
        || machine()
            .emulator
            .is_some_and(|emulator| emulator.distorts_times())
    {
        return Err(CoreClockError::NotTheCpusTime);
    }
    let mut tries = 0;
    let (ratio, source) = loop {
        let latest = burst();
        tries += 1;
        if latest.is_ok() || tries == MOST_BURSTS_TRIED {
            break latest?;
        }
    };
    let mut all = vec![ratio];
    if let Some(mut bursts) = BURSTS.try_lock() {
        if bursts.len() == MOST_BURSTS {
            bursts.pop();
        }
        bursts.push(ratio);
        all.clone_from(&bursts);
    }
    Ok(CoreClock::of(all, source))
}

/// Ticks of one round: what twice `short` blocks take beyond `short` ones, by the chain alone, twice, in mirrored order so that
/// a clock that changes evenly cancels out.
fn difference(chain: fn(u64) -> i64, short: u64) -> i64 {
    let first = chain(short);
    let long = chain(2 * short) + chain(2 * short);
    long - first - chain(short)
}

/// Cycles per tick of a chain of additions.
fn cycles_per_tick(ticks: i64, short: u64) -> Option<f64> {
    (ticks > 0).then(|| (2 * short * LINKS_PER_BLOCK) as f64 / ticks as f64)
}

fn burst() -> Result<(f64, CycleSource), CoreClockError> {
    let rounds: Vec<[i64; 2]> = (0..ROUNDS)
        .map(|_| {
            [
                difference(additions, SHORT),
                difference(multiplications, SHORT_MULTIPLICATIONS),
            ]
        })
        .collect();
    let by_chain = evaluate(&rounds)?;
    let agrees = |counted: &f64| (counted / by_chain - 1.0).abs() < TOLERANCE;
    let by_pmu = || pmu::counter().and_then(counted).filter(agrees);
    let by_rdpru = || rdpru::counter().and_then(counted).filter(agrees);
    Ok(if let Some(ratio) = by_pmu() {
        (ratio, CycleSource::Pmu)
    } else if let Some(ratio) = by_rdpru() {
        (ratio, CycleSource::Rdpru)
    } else {
        (by_chain, CycleSource::ReferenceChain)
    })
}

/// Cycles per tick by a counter of cycles: what it counts beyond a chain of N for one of 2N, so that its own cost cancels out.
fn counted(mut cycles: impl FnMut() -> Option<u64>) -> Option<f64> {
    let mut leg = |blocks: u64| {
        let before = cycles()?;
        let ticks = additions(blocks);
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

/// Cycles per tick from the rounds' ticks of additions and of multiplications.
fn evaluate(rounds: &[[i64; 2]]) -> Result<f64, CoreClockError> {
    let usual = |which: usize| {
        median(rounds.iter().map(|round| round[which] as f64).collect()).unwrap_or(0.0)
    };
    let usual = [usual(0), usual(1)];
    // An interruption in either leg makes it far too long, or far too short.
    let undisturbed = |round: &&[i64; 2]| {
        (0..2).all(|which| {
            usual[which] > 0.0 && (0.8..1.25).contains(&(round[which] as f64 / usual[which]))
        })
    };
    let kept: Vec<&[i64; 2]> = rounds.iter().filter(undisturbed).collect();
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
    use super::*;

    /// Rounds of a core that runs 1.4 cycles a tick and multiplies in `times` cycles, every fifth interrupted.
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
        if !reference_chain::AVAILABLE || clock::availability().is_err() {
            return;
        }
        // A core that runs 1.4 cycles a tick, by a counter that takes a while to read.
        let ratio = counted(|| {
            std::hint::black_box(additions(5));
            Some((clock::now() as f64 * 1.4) as u64)
        });
        let ratio = ratio.unwrap();
        assert!((1.2..1.6).contains(&ratio), "{ratio}");
        assert_eq!(counted(|| None), None);
        assert_eq!(counted(|| Some(7)), None);
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
