//! The rate of the counter, measured against the operating system's raw clock while the program runs anyway.
//!
//! Nothing is measured before `main` and nothing is waited for where it can be helped: a few paired readings are taken when the
//! first callsite is registered, and a few more when a rate is asked for. The time between them is the baseline, and the longer
//! it is the tighter the bound: the half-widths of the readings over the baseline, 2.5 ppm after 20 ms, 0.05 ppm after a
//! second. Only a program that asks earlier than [`BASELINE`] waits for the rest of it.
//!
//! The bound is relative to the reference clock ([`Rate::reference`]). On Linux that is `CLOCK_MONOTONIC_RAW`, which NTP does not
//! slew; where the kernel's clock is itself made from this counter, what is recovered is the kernel's own idea of its rate, which
//! may be tens of ppm from true seconds.
//!
//! A counter or clock that stepped since the first reading (suspend, a live migration, a restored snapshot) is noticed, because
//! readings are checked against a third point in time; the rate is then measured anew and says so ([`Rate::stepped`]).

#![cfg(feature = "on")]

use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;

use crate::tsc::clock;

pub mod core_clock;
mod fit;
pub(crate) mod overhead;
pub(crate) mod reference_chain;
pub mod resolution;
mod sample;
pub(crate) mod statistics;

pub use fit::{ClockPair, Slope, Steps, fit};

/// A rate asked for sooner than this after the first reading waits for the rest of it.
pub const BASELINE: Duration = Duration::from_millis(20);

/// The second reading where nothing is known of the rate: late enough to distinguish a step from an even pace to 0.01 %.
const SECOND_LOOK: Duration = Duration::from_millis(2);

/// Groups of readings kept: the first, and the latest ones.
const MOST_GROUPS: usize = 8;

/// How fast the counter ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rate {
    /// Ticks per second of the reference clock.
    pub hz: f64,
    /// The true rate is within this many millionths of `hz`; 0 where the rate is exact by definition.
    pub ppm: f64,
    /// The time from the first reading to the last that the rate rests on; zero where it is exact.
    pub baseline: Duration,
    /// What it was measured against.
    pub reference: Reference,
    /// A clock stepped since the first reading, so `hz` rests on the time since then and intervals across the step are wrong.
    pub stepped: bool,
}

impl Rate {
    pub(crate) const fn exact(hz: f64, reference: Reference) -> Self {
        Self {
            hz,
            ppm: 0.0,
            baseline: Duration::ZERO,
            reference,
            stepped: false,
        }
    }

    /// A number of ticks in nanoseconds.
    #[must_use]
    pub fn ns(&self, ticks: f64) -> f64 {
        ticks / self.hz * 1e9
    }
}

impl fmt::Display for Rate {
    /// `2596.130 MHz ± 0.05 ppm (CLOCK_MONOTONIC_RAW over 1.2 s)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} MHz", self.hz / 1e6)?;
        if self.reference.is_exact() {
            return write!(f, " exactly ({})", self.reference);
        }
        let digits = if self.ppm < 0.095 { 2 } else { 1 };
        write!(
            f,
            " ± {:.digits$} ppm ({} over {:.1?}",
            self.ppm, self.reference, self.baseline
        )?;
        f.write_str(if self.stepped {
            "; a clock stepped before that)"
        } else {
            ")"
        })
    }
}

/// What a [`Rate`] is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reference {
    /// Linux: CLOCK_MONOTONIC_RAW, which nothing adjusts.
    MonotonicRaw,
    /// Elsewhere: [`Instant`](std::time::Instant), which the system may slew.
    Instant,
    /// aarch64: the architecture says the rate (CNTFRQ_EL0).
    Cntfrq,
    /// The counter is not used, and what is counted is nanoseconds.
    Nanoseconds,
}

impl Reference {
    /// Whether a rate relative to this was not measured.
    #[must_use]
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Cntfrq | Self::Nanoseconds)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::MonotonicRaw => "CLOCK_MONOTONIC_RAW",
            Self::Instant => "std::time::Instant",
            Self::Cntfrq => "CNTFRQ_EL0",
            Self::Nanoseconds => "the unit is the nanosecond",
        })
    }
}

/// Why there is no rate. Ticks remain what they are; only their conversion to time is missing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CalibrationError {
    /// Not enough paired readings.
    TooFewPairs {
        /// How many could be used.
        usable: usize,
    },
    /// No single rate explains the readings: a clock stepped or changed its pace between them.
    ClockStepped,
    /// The readings are too close together or too uncertain.
    Imprecise {
        /// How far off the rate may be, in millionths.
        ppm: f64,
    },
    /// The rate found is no CPU's: one of the clocks does not count time.
    Implausible {
        /// That rate.
        hz: f64,
    },
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewPairs { usable } => {
                write!(f, "{usable} usable readings of the two clocks; a rate takes two")
            }
            Self::ClockStepped => f.write_str(
                "no one rate explains the readings: the counter or the system's clock stepped (suspend, live migration, \
                 unsynchronised CPUs)",
            ),
            Self::Imprecise { ppm } => write!(f, "the rate is known no better than to {ppm:.0} ppm"),
            Self::Implausible { hz } => write!(f, "a rate of {hz:.0} Hz is no counter's"),
        }
    }
}

impl std::error::Error for CalibrationError {}

/// The readings so far, oldest first, and the latest rate they gave.
struct History {
    groups: Vec<sample::Group>,
    latest: Option<Rate>,
}

/// Only ever tried, never waited for: whoever finds it locked (another thread at the same work, or after a fork nobody)
/// measures afresh for itself.
static HISTORY: Mutex<History> = Mutex::new(History {
    groups: Vec::new(),
    latest: None,
});

/// Takes the first readings, of the clocks' rate and of the core's, unless they have been taken: some microseconds.
pub(crate) fn first_reading() {
    core_clock::first_reading();
    if known().is_some() {
        return;
    }
    if let Some(mut history) = HISTORY.try_lock()
        && history.groups.is_empty()
    {
        history.groups.push(sample::group());
    }
}

/// The counter's rate, from all readings since the first.
///
/// Takes microseconds if [`BASELINE`] has passed since, up to [`BASELINE`] (asleep) if not.
///
/// # Errors
///
/// The clocks disagree, or do not count time.
pub fn rate() -> Result<Rate, CalibrationError> {
    if let Some(rate) = known() {
        return Ok(rate);
    }
    let history = HISTORY
        .try_lock()
        .map(|history| (history.groups.clone(), history.latest))
        .unwrap_or_default();
    let (groups, rate) = rate_since(history)?;
    if let Some(mut history) = HISTORY.try_lock() {
        *history = History {
            groups,
            latest: Some(rate),
        };
    }
    Ok(rate)
}

/// The rate from the groups so far and one taken now, and what to remember: the groups that support it.
fn rate_since(
    (mut groups, latest): (Vec<sample::Group>, Option<Rate>),
) -> Result<(Vec<sample::Group>, Rate), CalibrationError> {
    groups.push(sample::group());
    let waited = sample::span(&groups);
    match latest {
        Some(latest) if !sample::agree(&groups, &latest) => return afresh(),
        // Not much would be gained.
        Some(latest) if waited < latest.baseline * 2 => {
            groups.pop();
            return Ok((groups, latest));
        }
        Some(_) => {}
        None if waited < BASELINE => sample::more(&mut groups, BASELINE - waited),
        None => sample::more(&mut groups, SECOND_LOOK),
    }
    let stepped = latest.is_some_and(|latest| latest.stepped);
    match sample::rate_of(&groups, stepped) {
        Ok(rate) => {
            if groups.len() > MOST_GROUPS {
                groups.drain(1..=groups.len() - MOST_GROUPS);
            }
            Ok((groups, rate))
        }
        Err(CalibrationError::ClockStepped) => afresh(),
        Err(error) => Err(error),
    }
}

/// The rate from readings taken now alone, because a clock stepped after the earlier ones.
fn afresh() -> Result<(Vec<sample::Group>, Rate), CalibrationError> {
    let mut groups = vec![sample::group()];
    sample::more(&mut groups, BASELINE);
    let rate = sample::rate_of(&groups, true)?;
    Ok((groups, rate))
}

/// The counter's rate over the next `time`, whatever is known already. The calling thread sleeps meanwhile.
///
/// # Errors
///
/// As [`rate`]'s, and times too short for a rate within a percent.
pub fn calibrate(time: Duration) -> Result<Rate, CalibrationError> {
    if let Some(rate) = known() {
        return Ok(rate);
    }
    let mut groups = vec![sample::group()];
    sample::more(&mut groups, time);
    sample::rate_of(&groups, false)
}

/// The rate, where it needs no measuring.
fn known() -> Option<Rate> {
    if clock::availability().is_err() {
        return Some(Rate::exact(1e9, Reference::Nanoseconds));
    }
    architectural_hz().map(|hz| Rate::exact(hz, Reference::Cntfrq))
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
fn architectural_hz() -> Option<f64> {
    let hz: u64;
    // SAFETY: CNTFRQ_EL0 only reads, and user code may read it wherever it may read CNTVCT_EL0.
    unsafe {
        std::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags, pure));
    }
    // Firmware that forgot to set it.
    (hz != 0).then_some(hz as f64)
}

#[cfg(not(all(target_arch = "aarch64", not(miri))))]
fn architectural_hz() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn short_and_long_calibrations_agree_within_their_bounds() {
        let (Ok(short), Ok(long)) = (calibrate(BASELINE), calibrate(Duration::from_millis(300)))
        else {
            panic!("no rate");
        };
        let apart = (short.hz / long.hz - 1.0).abs() * 1e6;
        assert!(apart <= short.ppm + long.ppm, "{apart} ppm: {short} {long}");
        if !short.reference.is_exact() {
            assert!(long.ppm < short.ppm);
            assert!(short.baseline >= BASELINE);
        }
    }

    #[test]
    fn rate_holds_against_the_standard_library() {
        let rate = rate().unwrap();
        let (start, instant) = (clock::now(), Instant::now());
        std::thread::sleep(Duration::from_millis(100));
        let slept = instant.elapsed();
        let ns = rate.ns(crate::tsc::elapsed(start, clock::now()) as f64);
        // Instant's time lies inside the counter's; it may be slewed by 500 ppm, and preemptions fall between the reads.
        let longer = ns / slept.as_nanos() as f64;
        assert!((0.999..3.0).contains(&longer), "{ns} {slept:?} {rate}");
    }

    #[test]
    fn a_second_rate_agrees_with_the_first() {
        first_reading();
        let first = rate().unwrap();
        let second = rate().unwrap();
        assert!((first.hz / second.hz - 1.0).abs() * 1e6 <= first.ppm + second.ppm);
    }

    #[test]
    fn step_since_the_first_readings_is_told_and_survived() {
        if known().is_some() {
            return;
        }
        let mut early = vec![sample::group()];
        sample::more(&mut early, BASELINE);
        let (_, even) = rate_since((early.clone(), None)).unwrap();
        assert!(!even.stepped);
        for restarted_by in [1 << 28, 1 << 60] {
            let mut groups = early.clone();
            for pair in groups.as_flattened_mut() {
                pair.before = pair.before.wrapping_add(restarted_by);
                pair.after = pair.after.wrapping_add(restarted_by);
            }
            // At the first report, when only the anchor is known, and at a later one.
            for history in [(groups[..1].to_vec(), None), (groups, Some(even))] {
                std::thread::sleep(BASELINE);
                let (_, rate) = rate_since(history).unwrap();
                assert!(rate.stepped, "{rate}");
                assert!((rate.hz / even.hz - 1.0).abs() * 1e6 <= rate.ppm + even.ppm);
            }
        }
    }

    #[test]
    fn rates_are_printed_with_what_they_are_relative_to() {
        let rate = Rate {
            hz: 2_596_130_168.0,
            ppm: 0.0512,
            baseline: Duration::from_millis(1234),
            reference: Reference::MonotonicRaw,
            stepped: false,
        };
        assert_eq!(
            rate.to_string(),
            "2596.130 MHz ± 0.05 ppm (CLOCK_MONOTONIC_RAW over 1.2s)"
        );
        assert_eq!(
            Rate::exact(1e9, Reference::Nanoseconds).to_string(),
            "1000.000 MHz exactly (the unit is the nanosecond)"
        );
    }
}
