//! Measures the rate of the counter (the TSC, or its equivalent on other architectures) against the operating system's raw clock, while
//! the program runs anyway.
//!
//! Nothing is measured before `main`. The first callsite that registers takes a few paired readings of both clocks, and every request for
//! the rate takes a few more. The time between them is the baseline. The longer the baseline, the smaller the error bound: the half-widths
//! of the readings divided by the baseline give some 12 ppm after 4 ms, 2.5 ppm after 20 ms and 0.05 ppm after a second. The first request
//! waits until 4 ms have passed since the first readings, or for 2 ms if that time has passed already. A report takes readings before
//! it measures what probes cost, and so hardly waits. So a program of a few milliseconds is not much longer because it is measured, and its
//! report states the larger bound.
//!
//! The bound is relative to the reference clock ([`Rate::reference`]). On Linux this is `CLOCK_MONOTONIC_RAW`, which NTP does not slew.
//! Where the kernel derives that clock from this very counter, the measurement recovers the rate that the kernel assumes, which may be
//! tens of ppm off true seconds.
//!
//! If the counter or the clock stepped since the first reading (after a suspend, a live migration or a restored snapshot), the readings
//! contradict each other. The rate is then measured again from new readings, and [`Rate::stepped`] is set.

#![cfg(measuring)]
#![cfg_attr(not(feature = "on"), doc(hidden))]

use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;

use crate::tsc::clock;
use tsc_report::__private::{data, named, reasons};

pub(crate) mod core_clock;
mod fit;
pub(crate) mod light;
mod measurements;
pub(crate) mod overhead;
pub(crate) mod reference_chain;
pub(crate) mod resolution;
mod sample;
pub(crate) mod statistics;

pub use core_clock::{CoreClock, CoreClockError, CycleSource, core_clock};
use fit::{Steps, fit};
pub use resolution::ticks as resolution;

/// If the rate is wanted sooner than this after the first reading, the caller sleeps for the rest of the time.
const BASELINE: Duration = Duration::from_millis(4);

/// The time over which later readings than the first ones are taken for the first rate: long enough to detect a step that changes the rate
/// by 0.01 %.
const SECOND_LOOK: Duration = Duration::from_millis(2);

/// How many groups of readings are taken while the rate is measured over a given time, not counting the first one.
const SLICES: u32 = 4;

/// The number of groups of readings that are kept: the first one, and the latest ones.
const MOST_GROUPS: usize = 8;

data! {
    /// How fast the counter ticks.
    #[derive(Copy)]
    pub struct Rate {
        /// Ticks per second of the reference clock.
        hz: f64,
        /// The true rate differs from [`hz`](Self::hz) by at most this many millionths. 0 if the rate is exact by definition.
        ppm: f64,
        /// The time between the first and the last reading that were used. Zero if the rate is exact.
        baseline: Duration,
        /// The clock that the rate was measured against.
        reference: Reference,
        /// A clock stepped since the first reading. The rate is then measured over the time since the step, and intervals across the step are
        /// wrong.
        stepped: bool,
    }
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

    /// Converts a number of ticks to nanoseconds.
    #[must_use]
    pub fn ns(&self, ticks: f64) -> f64 {
        ticks / self.hz * 1e9
    }
}

impl fmt::Display for Rate {
    /// Prints, for example, `2596.130 MHz ± 0.05 ppm (CLOCK_MONOTONIC_RAW over 1.2s)`.
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
        f.write_str(match self.stepped {
            true => "; a clock stepped before that)",
            false => ")",
        })
    }
}

named! {
    /// The clock or the definition that a [`Rate`] is relative to.
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    #[non_exhaustive]
    pub enum Reference {
        /// Linux: `CLOCK_MONOTONIC_RAW`, which nothing adjusts.
        MonotonicRaw = "CLOCK_MONOTONIC_RAW",
        /// Other systems: [`Instant`](std::time::Instant), which the system may slew.
        Instant = "std::time::Instant",
        /// aarch64: the register CNTFRQ_EL0 contains the rate.
        Cntfrq = "CNTFRQ_EL0",
        /// The counter is not used. Ticks are nanoseconds of the operating system's clock.
        Nanoseconds = "the unit is the nanosecond",
    }
}

impl Reference {
    /// Whether the rate is exact by definition, and was not measured.
    #[must_use]
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Cntfrq | Self::Nanoseconds)
    }
}

reasons! {
    /// Why there is no rate. Ticks are not affected; they just cannot be converted to time.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub enum CalibrationError {
        /// There are not enough paired readings.
        TooFewPairs {
            /// How many readings could be used.
            usable: usize,
        } = ("{usable} usable readings of the two clocks; a rate needs two"),
        /// No single rate explains the readings: a clock stepped or changed its pace between them.
        ClockStepped = (
            "no single rate explains the readings: the counter or the system's clock stepped (suspend, live migration, \
             unsynchronised CPUs)"
        ),
        /// The readings are too close together or too uncertain.
        Imprecise {
            /// The error bound of the rate, in millionths.
            ppm: f64,
        } = ("the rate is uncertain by {ppm:.0} ppm"),
        /// The measured rate cannot be that of a CPU's counter, so one of the clocks does not count time.
        Implausible {
            /// The measured rate.
            hz: f64,
        } = ("{hz:.0} Hz cannot be the rate of a CPU's counter"),
    }
}

/// The readings so far, oldest first, and the latest rate that was computed from them.
type History = (Vec<sample::Group>, Option<Rate>);

/// No thread waits for this lock, because in the child of a fork the thread that holds it may not exist. If it is held, the caller takes
/// readings of its own.
static HISTORY: Mutex<History> = Mutex::new((Vec::new(), None));

/// Takes the first readings for the counter's rate and for the core clock. It takes some microseconds.
pub(crate) fn first_reading() {
    core_clock::first_reading();
    reading_meanwhile();
}

/// Takes readings for the first rate, unless it is known. What the caller does between them and the request need not be waited for.
pub(crate) fn reading_meanwhile() {
    if known().is_none()
        && let Some(mut history) = HISTORY.try_lock()
        && let (groups, None) = &mut *history
        && groups.len() < MOST_GROUPS
    {
        groups.push(sample::group());
    }
}

/// The counter's rate, from all readings since the first one.
///
/// The first call sleeps until 4 ms have passed since the first reading, or for 2 ms if that time has passed already. Later calls
/// take microseconds, unless a clock has stepped.
///
/// ```
/// # #[cfg(feature = "on")] // the module is private otherwise
/// match tsc_runtime::calibration::rate() {
///     Ok(rate) => println!("{rate}: 1000 ticks take {:.1} ns", rate.ns(1000.0)),
///     Err(error) => println!("ticks cannot be converted to time: {error}"),
/// }
/// ```
///
/// # Errors
///
/// One of the two clocks stepped or does not count time, or the readings are too uncertain: see [`CalibrationError`].
pub fn rate() -> Result<Rate, CalibrationError> {
    if let Some(rate) = known() {
        return Ok(rate);
    }
    let history = HISTORY.try_lock().map(|history| history.clone());
    let (groups, rate) = rate_since(history.unwrap_or_default())?;
    if let Some(mut history) = HISTORY.try_lock() {
        *history = (groups, Some(rate));
    }
    Ok(rate)
}

/// Computes the rate from the groups so far and a new one. Returns the rate and the groups to keep.
fn rate_since(
    (mut groups, latest): History,
) -> Result<(Vec<sample::Group>, Rate), CalibrationError> {
    groups.push(sample::group());
    let waited = sample::span(&groups);
    match latest {
        Some(latest) if !sample::agree(&groups, &latest) => return over(BASELINE, true),
        // The baseline would not be twice as long, so another rate would hardly be better.
        Some(latest) if waited < latest.baseline * 2 => {
            groups.pop();
            return Ok((groups, latest));
        }
        Some(_) => {}
        None => {
            let looked = sample::span(&groups[1..]);
            let missing = BASELINE.saturating_sub(waited);
            let missing = missing.max(SECOND_LOOK.saturating_sub(looked));
            if !missing.is_zero() {
                sample::later(&mut groups, missing);
            }
        }
    }
    let stepped = latest.is_some_and(|latest| latest.stepped);
    match sample::rate_of(&groups, stepped) {
        Ok(rate) => {
            if groups.len() > MOST_GROUPS {
                groups.drain(1..=groups.len() - MOST_GROUPS);
            }
            Ok((groups, rate))
        }
        // A clock stepped after the earlier readings.
        Err(CalibrationError::ClockStepped) => over(BASELINE, true),
        Err(error) => Err(error),
    }
}

/// Computes the rate over the next `time` from new readings alone. Returns them, too.
fn over(time: Duration, stepped: bool) -> Result<(Vec<sample::Group>, Rate), CalibrationError> {
    let mut groups = vec![sample::group()];
    for _ in 0..SLICES {
        sample::later(&mut groups, time / SLICES);
    }
    let rate = sample::rate_of(&groups, stepped)?;
    Ok((groups, rate))
}

/// Measures the counter's rate over the next `time`, without earlier readings. The calling thread sleeps meanwhile, unless the rate is
/// known by definition.
///
/// # Errors
///
/// Those of [`rate`], and [`CalibrationError::Imprecise`] if `time` is too short for a rate within one percent.
pub fn calibrate(time: Duration) -> Result<Rate, CalibrationError> {
    if let Some(rate) = known() {
        return Ok(rate);
    }
    over(time, false).map(|(_, rate)| rate)
}

/// The rate, if it need not be measured.
fn known() -> Option<Rate> {
    if clock::availability().is_err() {
        return Some(Rate::exact(1e9, Reference::Nanoseconds));
    }
    architectural_hz().map(|hz| Rate::exact(hz, Reference::Cntfrq))
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
fn architectural_hz() -> Option<f64> {
    let hz: u64;
    // SAFETY: the instruction only reads CNTFRQ_EL0. User code may read that register wherever it may read CNTVCT_EL0.
    unsafe {
        std::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack, preserves_flags, pure));
    }
    // The register is 0 if the firmware did not set it.
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
        // The interval of `Instant` lies inside that of the counter. `Instant` may be slewed by 500 ppm, and a preemption may fall between
        // the reads.
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
        let (early, _) = over(BASELINE, false).unwrap();
        let (_, even) = rate_since((early.clone(), None)).unwrap();
        assert!(!even.stepped);
        for restarted_by in [1 << 28, 1 << 60] {
            let mut groups = early.clone();
            for pair in groups.as_flattened_mut() {
                pair.before = pair.before.wrapping_add(restarted_by);
                pair.after = pair.after.wrapping_add(restarted_by);
            }
            // At the first report, when only the first group is known, and at a later one.
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
