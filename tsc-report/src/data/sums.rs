//! What was counted for a callsite, before any statistics. These are whole numbers, so that the sums of two processes add up exactly.

use super::Clock;
use super::getters::data;

// Input:  sums! { /// Doc. a: u64 by add, /// Doc. b: Option<i64> by least, }
// Output: data! { pub struct CallsiteSums { /// Doc. a: u64, /// Doc. b: Option<i64> } } and
//         impl CallsiteSums {
//             fn merge(&mut self, other: &Self) { self.a = add::merge(self.a, other.a); self.b = least::merge(self.b, other.b); }
//             fn since(&mut self, earlier: &Self) { self.a = add::since(self.a, earlier.a); … }
//         }
macro_rules! sums {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ident $(< $of:ident >)? by $merge:ident,)*) => {
        data! {
            /// The sums over all calls of a callsite, and over all threads. Every figure of a [`CallsiteReport`](super::CallsiteReport) is
            /// computed from these, its histograms and the clock.
            ///
            /// Ticks of calls are *gross* here: on the CPU and blocked, without the cost of nested probes, with the callsite's own visible
            /// overhead.
            #[derive(Default)]
            pub struct CallsiteSums {
                $($(#[doc = $doc])+ $field: $type $(< $of >)?,)*
            }
        }

        impl CallsiteSums {
            /// Adds another process's sums of the same callsite.
            pub(crate) fn merge(&mut self, other: &Self) {
                $(self.$field = $merge::merge(self.$field, other.$field);)*
            }

            /// Subtracts the sums of an earlier report of the same process. The minimum and the maximum remain those of all calls.
            pub(crate) fn since(&mut self, earlier: &Self) {
                $(self.$field = $merge::since(self.$field, earlier.$field);)*
            }
        }
    };
}

sums! {
    /// Threads that called it.
    threads: u64 by latest,
    /// Calls that have started and not returned.
    running: u64 by latest,
    /// Calls that are samples: neither a thread's first call nor an anomaly, and either not interrupted or repaired. Deviation, minimum,
    /// maximum, quantiles and the histogram are over these.
    samples: u64 by add,
    /// The sum of the samples' ticks.
    sum: i64 by add_signed,
    /// The sum of the squares of the samples' ticks.
    squares: SumOfSquares by add_squares,
    /// The smallest sample.
    min: Option<i64> by least,
    /// The largest sample.
    max: Option<i64> by greatest,
    /// First calls of threads.
    firsts: u64 by add,
    /// The ticks of these calls.
    first_sum: i64 by add_signed,
    /// The first call of the process. In a merged report, that of the process that started first.
    first: Option<FirstCall> by earliest,
    /// First calls of threads that were interrupted.
    firsts_interrupted: u64 by add,
    /// Interrupted calls that are samples.
    repaired: u64 by add,
    /// Interrupted calls that are not samples, without threads' first calls.
    excluded: u64 by add,
    /// The ticks of these calls.
    excluded_sum: i64 by add_signed,
    /// The ticks of all calls in which the thread was blocked: a part of `sum`, `first_sum` and `excluded_sum`.
    calls_blocked: i64 by add_signed,
    /// By how much the wall time of the repaired and the excluded calls is longer than their ticks.
    calls_waiting: i64 by add_signed,
    /// The longest wall time of these calls; of async functions, of all calls.
    wall_max: Option<i64> by greatest,
    /// Ticks off the CPU in calls inside no other call of the same callsite.
    off: i64 by add_signed,
    /// The part of `off` in which the thread was ready while another thread ran.
    waiting: i64 by add_signed,
    /// Ticks off the CPU outside annotated callees.
    own_off: i64 by add_signed,
    /// The part of `own_off` in which the thread was ready while another thread ran.
    own_waiting: i64 by add_signed,
    /// Calls (of futures: polls) whose time off the CPU cannot be divided into blocked and waiting.
    unsplit: u64 by add,
    /// Interrupted calls (of futures: polls) whose time on the CPU is unknown.
    unasked: u64 by add,
    /// Calls without a measurement, which have no ticks.
    anomalies: u64 by add,
    /// Calls (of futures: polls) that a panic ended.
    panicked: u64 by add,
    /// Samples of which it is unknown whether they were interrupted.
    unknown: u64 by add,
    /// The cost of nested probes, registrations and reports in the calls. Raw ticks are gross ticks plus this.
    nested: i64 by add_signed,
    /// Net ticks of annotated callees on the CPU.
    callees: i64 by add_signed,
    /// The part of `nested` minus `inner_nested` that registrations and reports took.
    registration: i64 by add_signed,
    /// Calls (of futures: polls) inside other calls of the same callsite.
    inner: u64 by add,
    /// The gross ticks of `inner` on the CPU.
    inner_gross: i64 by add_signed,
    /// The nested overhead of `inner`.
    inner_nested: i64 by add_signed,
    /// The visible overhead of all probes of the callsite, in thousandths of a tick. For each stretch between two reports it is what was
    /// calibrated for that stretch, so that a later report does not change the figures of an earlier one.
    visible_milliticks: i64 by add_signed,
    /// The part of `visible_milliticks` in `inner` calls.
    inner_visible_milliticks: i64 by add_signed,
    /// Bytes or items that the calls worked on.
    units: u64 by add,
    /// Polls of futures.
    polls: u64 by add,
    /// The ticks of the polls on the CPU, also of futures that have not completed.
    polls_gross: i64 by add_signed,
    /// Ticks from futures' first polls to their completion.
    wall: u64 by add,
    /// Futures that were polled, and dropped before completion.
    cancelled: u64 by add,
    /// Calls of a light function, counted when they start; of an async function, when they complete.
    counted: u64 by add,
    /// Ticks of the clock that found the function innermost and the thread on the CPU.
    clock_ticks: u64 by add,
    /// Time on the CPU by these ticks, in ticks of the counter.
    ticked_own: i64 by add_signed,
    /// Time off the CPU in which the function was innermost.
    ticked_own_off: i64 by add_signed,
    /// The part of `ticked_own_off` in which the thread was ready to run.
    ticked_own_waiting: i64 by add_signed,
    /// The sum of the squares of the times that the ticks stand for, in units of 1024 ticks squared.
    ticked_squares: u64 by add,
    /// Time on the CPU of the ticks during which the function was running.
    ticked: i64 by add_signed,
    /// Time off the CPU in which the function was running.
    ticked_off: i64 by add_signed,
    /// The part of `ticked_off` in which the thread was ready to run.
    ticked_waiting: i64 by add_signed,
    /// The cost of the callsite's light probes, in thousandths of a tick.
    light_probe_milliticks: i64 by add_signed,
}

data! {
    /// A first call, with cold caches.
    #[derive(Copy, Default, Eq, PartialOrd, Ord)]
    pub struct FirstCall {
        /// When the process began to measure, in nanoseconds since 1970.
        process_started_ns: u64,
        /// The gross ticks of the call.
        ticks: i64,
    }
}

/// A sum that needs more than 64 bits. In JSON it is a string of decimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SumOfSquares(#[doc(hidden)] pub u128);

impl SumOfSquares {
    /// The number.
    #[must_use]
    pub fn get(&self) -> u128 {
        self.0
    }
}

#[cfg(feature = "json")]
impl serde::Serialize for SumOfSquares {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(feature = "json")]
impl<'de> serde::Deserialize<'de> for SumOfSquares {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = std::borrow::Cow::<str>::deserialize(deserializer)?;
        digits.parse().map(Self).map_err(|_| {
            serde::de::Error::custom(format_args!(
                "{digits:?} is not a sum of squares: expected a string of decimal digits"
            ))
        })
    }
}

impl CallsiteSums {
    /// The number of calls that have returned.
    #[must_use]
    pub fn calls(&self) -> u64 {
        saturating_sum([
            self.samples,
            self.firsts,
            self.excluded,
            self.anomalies,
            self.counted,
        ])
    }

    /// How many times a probe's visible overhead is contained in the gross ticks: once for each call, or once for each poll.
    pub(crate) fn probes(&self) -> u64 {
        match self.polls {
            0 => saturating_sum([self.samples, self.firsts, self.excluded]),
            polls => polls,
        }
    }

    /// The gross ticks on the CPU of all calls. For futures, of all polls: futures that are suspended or were dropped have used time, too.
    pub(crate) fn gross(&self) -> i64 {
        if self.polls != 0 {
            return self.polls_gross;
        }
        self.sum
            .wrapping_add(self.first_sum)
            .wrapping_add(self.excluded_sum)
            .wrapping_sub(self.calls_blocked)
    }

    /// Whether interruptions of the calls were detected, as far as is known.
    pub(crate) fn is_detected(&self, clock: &Clock) -> bool {
        clock.no_interruptions_because.is_none()
            && (self.unknown == 0 || self.unknown < self.samples)
    }

    /// The mean visible overhead of one probe.
    pub(crate) fn visible(&self) -> f64 {
        match self.probes() {
            0 => 0.0,
            probes => self.visible_milliticks as f64 / 1000.0 / probes as f64,
        }
    }
}

/// Adds counts up. A report that somebody has changed may have any; what is too much for it is no reason to panic.
pub(crate) fn saturating_sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Counts, which never decrease.
mod add {
    pub(super) fn merge(one: u64, other: u64) -> u64 {
        one.saturating_add(other)
    }

    pub(super) fn since(later: u64, earlier: u64) -> u64 {
        later.saturating_sub(earlier)
    }
}

/// Sums of ticks, with wrapping arithmetic as in the runtime.
mod add_signed {
    pub(super) fn merge(one: i64, other: i64) -> i64 {
        one.wrapping_add(other)
    }

    pub(super) fn since(later: i64, earlier: i64) -> i64 {
        later.wrapping_sub(earlier)
    }
}

mod add_squares {
    use super::SumOfSquares;

    pub(super) fn merge(one: SumOfSquares, other: SumOfSquares) -> SumOfSquares {
        SumOfSquares(one.0.saturating_add(other.0))
    }

    pub(super) fn since(later: SumOfSquares, earlier: SumOfSquares) -> SumOfSquares {
        SumOfSquares(later.0.saturating_sub(earlier.0))
    }
}

mod least {
    pub(super) fn merge(one: Option<i64>, other: Option<i64>) -> Option<i64> {
        one.into_iter().chain(other).min()
    }

    pub(super) fn since(later: Option<i64>, _: Option<i64>) -> Option<i64> {
        later
    }
}

mod greatest {
    pub(super) fn merge(one: Option<i64>, other: Option<i64>) -> Option<i64> {
        one.max(other)
    }

    pub(super) fn since(later: Option<i64>, _: Option<i64>) -> Option<i64> {
        later
    }
}

mod earliest {
    use super::FirstCall;

    pub(super) fn merge(one: Option<FirstCall>, other: Option<FirstCall>) -> Option<FirstCall> {
        one.into_iter().chain(other).min()
    }

    pub(super) fn since(later: Option<FirstCall>, earlier: Option<FirstCall>) -> Option<FirstCall> {
        later.filter(|_| earlier.is_none())
    }
}

/// Values of the latest report.
mod latest {
    pub(super) fn merge(one: u64, other: u64) -> u64 {
        super::add::merge(one, other)
    }

    pub(super) fn since(later: u64, _: u64) -> u64 {
        later
    }
}
