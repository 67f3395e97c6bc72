//! Checks whether the clocks are steady, and whether this program has the CPU for itself: the counter's rate, the core clock, and the time
//! taken away by interrupts, other processes and other guests.

use std::time::Duration;

use super::{Finding, bad, doubtful, good, stepped};
use crate::calibration::core_clock::{CoreClock, CoreClockError, core_clock};
use crate::calibration::{self, Rate, resolution};
use crate::machine::machine;
use crate::tsc::{clock, elapsed};

/// Bursts of the reference chain, and the time between them.
const BURSTS: usize = 8;
const BETWEEN_BURSTS: Duration = Duration::from_millis(3);

/// How long the CPU is watched for time taken away, and the shortest gap that counts: an interrupt takes about a microsecond.
const WATCH_NS: f64 = 20e6;
const GAP_NS: f64 = 400.0;
/// The number of reads after which the watch ends, in case the counter does not advance.
const MOST_READS: u32 = 20_000_000;

pub(super) fn lines() -> Vec<Finding> {
    let rate = match calibration::rate() {
        Ok(rate) => rate,
        Err(error) => {
            let found = bad(error.to_string())
                .means("ticks cannot be converted to seconds, and if a clock stepped, the calls at that time are wrong")
                .advise("run again; if the finding stays, pin all threads to one CPU and look at the kernel's log");
            return vec![found.named("rate")];
        }
    };
    let mut clock = core_clock();
    for _ in 1..BURSTS {
        std::thread::sleep(BETWEEN_BURSTS);
        clock = core_clock().or(clock);
    }
    vec![
        rate_line(&rate, machine().stated_hz).named("rate"),
        core_clock_line(clock, &rate).named("core clock"),
        gaps_line(&watch(&rate), &rate).named("time taken away"),
    ]
}

fn rate_line(rate: &Rate, stated_hz: Option<f64>) -> Finding {
    /// A larger difference between the measured and the stated rate is doubtful. The crystal's error explains only tens of ppm.
    const STATED_PPM: f64 = 1000.0;
    /// A larger error bound is doubtful. The other figures of a report have larger errors.
    const LOOSE_PPM: f64 = 100.0;
    let mut value = rate.to_string();
    if let Some(stated) = stated_hz
        && !rate.reference.is_exact()
    {
        value += &format!("; the CPU states {:.3} MHz", stated / 1e6);
        if (rate.hz / stated - 1.0).abs() * 1e6 > STATED_PPM {
            return doubtful(value)
                .means("the measured and the stated rate differ, so one of them is wrong")
                .advise("compare ticks with ticks; do not trust conversions to seconds");
        }
    }
    if let Some(stepped) = stepped(rate) {
        return stepped;
    }
    if rate.ppm > LOOSE_PPM {
        return doubtful(value)
            .means("the readings of the two clocks were interrupted or slow")
            .advise("let the program run longer before it reports");
    }
    good(value).means("conversions to seconds are this exact, relative to the named clock")
}

fn core_clock_line(clock: Result<CoreClock, CoreClockError>, rate: &Rate) -> Finding {
    const STEADY: f64 = 1.02;
    let clock = match clock {
        Ok(clock) => clock,
        Err(error) => {
            return doubtful(error.to_string())
                .means("core cycles cannot be estimated; ticks are not affected")
                .advise("use ticks and seconds");
        }
    };
    let [median, lowest, highest] = clock.ghz(rate.hz);
    let value = format!(
        "{median:.2} GHz ({lowest:.2}..{highest:.2} in {} bursts, by {}) = {:.3} cycles a tick",
        clock.bursts, clock.source, clock.cycles_per_tick
    );
    if clock.highest / clock.lowest > STEADY {
        return doubtful(value)
            .means("the core's clock changes, so the same work takes more ticks at one time than at another")
            .advise("alternate what you compare, as compare() does; regard core cycles as estimates");
    }
    good(value).means("the core's clock did not change while this test ran")
}

/// The gaps seen in a loop that does nothing but read the counter. Times are in ticks.
#[derive(Debug, Default)]
struct Gaps {
    watched: i64,
    taken: i64,
    longest: i64,
    count: u32,
}

fn watch(rate: &Rate) -> Gaps {
    let gap_ticks = (GAP_NS * rate.hz / 1e9) as i64 + resolution::ticks() as i64;
    let watch_ticks = (WATCH_NS * rate.hz / 1e9) as i64;
    let start = clock::now();
    let mut gaps = Gaps::default();
    let mut last = start;
    for _ in 0..MOST_READS {
        let now = clock::now();
        let gap = elapsed(last, now);
        if gap > gap_ticks {
            gaps.taken += gap;
            gaps.longest = gaps.longest.max(gap);
            gaps.count += 1;
        }
        last = now;
        gaps.watched = elapsed(start, now);
        if !(0..watch_ticks).contains(&gaps.watched) {
            break;
        }
    }
    gaps
}

fn gaps_line(gaps: &Gaps, rate: &Rate) -> Finding {
    const DOUBTFUL_SHARE: f64 = 0.01;
    let share = gaps.taken as f64 / gaps.watched.max(1) as f64;
    let value = format!(
        "{:.2} % of {:.0} ms, in {} gaps, the longest {:.1} µs",
        share * 100.0,
        rate.ns(gaps.watched as f64) / 1e6,
        gaps.count,
        rate.ns(gaps.longest as f64) / 1e3
    );
    if share > DOUBTFUL_SHARE {
        doubtful(value)
            .means("interrupts, other processes or other guests use this CPU, and prolong the calls that they interrupt")
            .advise("stop other work, or pin to an idle CPU; trust medians and quantiles")
    } else {
        good(value).means("interrupts and other processes prolong hardly any call")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Reference;
    use crate::self_test::Verdict::{Bad, Doubtful, Good};

    fn rate(hz: f64, ppm: f64, stepped: bool) -> Rate {
        let mut rate = Rate::exact(hz, Reference::MonotonicRaw);
        (rate.ppm, rate.stepped) = (ppm, stepped);
        rate
    }

    #[test]
    fn rate_is_compared_with_the_stated_one() {
        assert_eq!(rate_line(&rate(2.6e9, 2.0, false), None).verdict, Good);
        assert_eq!(
            rate_line(&rate(2.6e9, 2.0, false), Some(2.6001e9)).verdict,
            Good
        );
        assert_eq!(
            rate_line(&rate(2.6e9, 2.0, false), Some(2.8e9)).verdict,
            Doubtful
        );
        assert_eq!(rate_line(&rate(2.6e9, 2.0, true), None).verdict, Doubtful);
        assert_eq!(
            rate_line(&rate(2.6e9, 500.0, false), None).verdict,
            Doubtful
        );
    }

    #[test]
    fn large_share_of_time_taken_is_doubtful() {
        let rate = rate(1e9, 0.0, false);
        let quiet = Gaps {
            watched: 20_000_000,
            taken: 5_000,
            longest: 4_000,
            count: 2,
        };
        let line = gaps_line(&quiet, &rate);
        assert_eq!(
            (line.verdict, &line.value[..]),
            (Good, "0.03 % of 20 ms, in 2 gaps, the longest 4.0 µs")
        );
        assert_eq!(
            gaps_line(
                &Gaps {
                    taken: 2_000_000,
                    ..quiet
                },
                &rate
            )
            .verdict,
            Doubtful
        );
        assert_ne!(gaps_line(&Gaps::default(), &rate).verdict, Bad);
    }
}
