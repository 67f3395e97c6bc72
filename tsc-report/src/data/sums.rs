//! What was counted for a callsite, before any statistics. These are whole numbers, so that the sums of two processes add up exactly.

use super::getters::data;
use super::{Clock, saturating_sum, share};

/// The figures that are counted, in one table. Of each: where it is counted, its name and type, and the [rule](super::rules) by which two
/// become one. All else follows from the table: the fields of [`CallsiteSums`], adding and subtracting, the keys in JSON, their schema and
/// their page in `docs`; and in tsc-core the cells of a record, with forgetting and reading.
///
/// - `stop`: in a cell that the stop of an ordinary call may write
/// - `record`: in a cell of each record
/// - `light`: by light probes and the clock
/// - `report`: when a record or a report is read
#[doc(hidden)]
#[macro_export]
macro_rules! __figures {
    ($declare:ident) => {
        $declare! {
            /// Threads that called it.
            report threads: u64 by Latest,
            /// Calls that have started and not returned.
            report running: u64 by Latest,
            /// Calls that are samples: neither a thread's first call nor an anomaly, and either not interrupted or repaired. Deviation, minimum,
            /// maximum, quantiles and the histogram are over these.
            record samples: u64 by Add,
            /// The sum of the samples' ticks.
            record sum: i64 by Add,
            /// The sum of the squares of the samples' ticks.
            record squares: SumOfSquares by Add,
            /// The smallest sample.
            record min: Option<i64> by Least,
            /// The largest sample.
            record max: Option<i64> by Greatest,
            /// First calls of threads.
            record firsts: u64 by Add,
            /// The ticks of threads' first calls.
            record first_sum: i64 by Add,
            /// The first call of the process. In a merged report, that of the process that started first.
            report first: Option<FirstCall> by Earliest,
            /// First calls of threads that were interrupted.
            record firsts_interrupted: u64 by Add,
            /// Interrupted calls that are samples.
            record repaired: u64 by Add,
            /// Interrupted calls that are not samples, without threads' first calls.
            record excluded: u64 by Add,
            /// The ticks of the excluded calls.
            record excluded_sum: i64 by Add,
            /// The ticks of all calls in which the thread was blocked: a part of `sum`, `first_sum` and `excluded_sum`.
            record calls_blocked: i64 by Add,
            /// By how much the wall time of interrupted calls is longer than their ticks.
            record calls_waiting: i64 by Add,
            /// The longest wall time of a repaired or an excluded call; of async functions, of any call.
            record wall_max: Option<i64> by Greatest,
            /// Ticks off the CPU in calls inside no other call of the same callsite.
            record off: i64 by Add,
            /// The part of `off` in which the thread was ready while another thread ran.
            record waiting: i64 by Add,
            /// How often the thread left the CPU in calls inside no other call of the same callsite.
            record switches: u64 by Add,
            /// Ticks off the CPU outside annotated callees.
            record own_off: i64 by Add,
            /// The part of `own_off` in which the thread was ready while another thread ran.
            record own_waiting: i64 by Add,
            /// How often another thread took the CPU outside annotated callees.
            record own_interruptions: u64 by Add,
            /// Calls (of futures: polls) whose time off the CPU cannot be divided into blocked and waiting.
            record unsplit: u64 by Add,
            /// Interrupted calls (of futures: polls) whose time on the CPU is unknown.
            record unasked: u64 by Add,
            /// Timed calls (of futures: polls) that ticks of the clock could find: those that have started since the program has light probes. Merged
            /// with a report that has ticks of the function, a process without light calls has the times of its calls in their place.
            record linked: u64 by Add,
            /// Calls without a measurement, which have no ticks.
            record anomalies: u64 by Add,
            /// Calls (of futures: polls) that a panic ended.
            record panicked: u64 by Add,
            /// Samples of which it is unknown whether they were interrupted.
            record unknown: u64 by Add,
            /// The cost of nested probes, registrations and reports in the calls. Raw ticks are gross ticks plus this.
            stop nested: i64 by Add,
            /// Net ticks of annotated callees on the CPU.
            stop callees: i64 by Add,
            /// The part of `nested` minus `inner_nested` that registrations and reports took.
            record registration: i64 by Add,
            /// What the probes took beyond their calibrated cost: to ask the kernel after an interruption, and to keep slow calls.
            record extra_cost: i64 by Add,
            /// Calls (of futures: polls) inside other calls of the same callsite.
            stop inner: u64 by Add,
            /// The gross ticks of `inner` on the CPU.
            stop inner_gross: i64 by Add,
            /// The nested overhead of `inner`.
            stop inner_nested: i64 by Add,
            /// The visible overhead of all probes of the callsite, in thousandths of a tick. For each stretch between two reports it is what was
            /// calibrated for that stretch, so that a later report does not change the figures of an earlier one.
            report visible_milliticks: i64 by Add,
            /// The part of `visible_milliticks` in `inner` calls.
            report inner_visible_milliticks: i64 by Add,
            /// Bytes or items that the calls worked on.
            record units: u64 by Add,
            /// Polls of futures.
            record polls: u64 by Add,
            /// The ticks of the polls on the CPU, also of futures that have not completed.
            record polls_gross: i64 by Add,
            /// The longest poll, on the CPU and blocked.
            record poll_max: Option<i64> by Greatest,
            /// Ticks from futures' first polls to their completion.
            record wall: u64 by Add,
            /// Futures that were polled, and dropped before completion.
            record cancelled: u64 by Add,
            /// Calls of a light function, counted when they start; of an async function, when they complete.
            light counted: u64 by Add,
            /// Ticks of the clock that found the function innermost and the thread on the CPU.
            light clock_ticks: u64 by Add,
            /// Time on the CPU by the ticks of the clock that `clock_ticks` counts, in ticks of the counter.
            light ticked_own: i64 by Add,
            /// Time off the CPU in which the function was innermost.
            light ticked_own_off: i64 by Add,
            /// The part of `ticked_own_off` in which the thread was ready to run.
            light ticked_own_waiting: i64 by Add,
            /// The sum of the squares of the times that the ticks stand for, in units of 1024 ticks squared. The time between several ticks
            /// in one call is not in it, because it is no matter of chance.
            light ticked_squares: u64 by Add,
            /// Time on the CPU of the ticks during which the function was running.
            light ticked: i64 by Add,
            /// Time off the CPU in which the function was running.
            light ticked_off: i64 by Add,
            /// The part of `ticked_off` in which the thread was ready to run.
            light ticked_waiting: i64 by Add,
            /// The calibrated cost of the callsite's light probes, in thousandths of a tick.
            light light_probe_milliticks: i64 by Add,
        }
    };
}

// Input:  declare! { /// Doc. record a: u64 by Add, … }
// Output: data! { pub struct CallsiteSums { /// Doc. a: u64 by Add, … } }
macro_rules! declare {
    ($($(#[doc = $doc:literal])+ $counted:ident $field:ident: $type:ident $(< $of:ident >)? by $rule:ident,)*) => {
        data! {
            /// The sums over all calls of a callsite, and over all threads. Every figure of a [`CallsiteReport`](super::CallsiteReport) is
            /// computed from these, its histograms and the clock.
            ///
            /// Ticks of calls are *gross* here: on the CPU and blocked, without the cost of nested probes, with the callsite's own visible
            /// overhead.
            pub struct CallsiteSums {
                $($(#[doc = $doc])+ $field: $type $(< $of >)? by $rule,)*
            }
        }
    };
}

__figures!(declare);

data! {
    /// A first call, with cold caches.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    pub struct FirstCall {
        /// When the process began to measure, in nanoseconds since 1970.
        process_started_ns: u64,
        /// The gross ticks of the call.
        ticks: i64,
    }
}

/// A sum that needs more than 64 bits. In JSON it is a string of decimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "json", serde(into = "String", try_from = "String"))]
pub struct SumOfSquares(#[doc(hidden)] pub u128);

impl SumOfSquares {
    /// The number.
    #[must_use]
    pub fn get(self) -> u128 {
        self.0
    }
}

#[cfg(feature = "json")]
impl From<SumOfSquares> for String {
    fn from(sum: SumOfSquares) -> Self {
        sum.0.to_string()
    }
}

#[cfg(feature = "json")]
impl TryFrom<String> for SumOfSquares {
    type Error = String;

    fn try_from(digits: String) -> Result<Self, String> {
        digits.parse().map(Self).map_err(|_| {
            format!("{digits:?} is not a sum of squares: expected a string of decimal digits")
        })
    }
}

impl CallsiteSums {
    /// The number of calls that have returned.
    #[must_use]
    pub fn calls(&self) -> u64 {
        let timed = [self.samples, self.firsts, self.excluded, self.anomalies];
        saturating_sum(timed.into_iter().chain([self.counted]))
    }

    /// The gross ticks and the number of the calls that were measured.
    pub(crate) fn measured(&self) -> (i64, u64) {
        let others = self.first_sum.wrapping_add(self.excluded_sum);
        let calls = saturating_sum([self.samples, self.firsts, self.excluded]);
        (self.sum.wrapping_add(others), calls)
    }

    /// How many times a probe's visible overhead is contained in the gross ticks: once for each call, or once for each poll.
    #[doc(hidden)]
    pub fn probes(&self) -> u64 {
        match self.polls {
            0 => self.measured().1,
            polls => polls,
        }
    }

    /// The gross ticks on the CPU of all calls. For futures, of all polls: futures that are suspended or were dropped have used time, too.
    #[doc(hidden)]
    pub fn gross(&self) -> i64 {
        if self.polls != 0 {
            return self.polls_gross;
        }
        self.measured().0.wrapping_sub(self.calls_blocked)
    }

    /// Whether interruptions of the calls were detected, as far as is known.
    pub(crate) fn is_detected(&self, clock: &Clock) -> bool {
        clock.no_interruptions_because.is_none()
            && (self.unknown == 0 || self.unknown < self.samples)
    }

    /// Whether it is known how long each call was on the CPU.
    pub(crate) fn is_on_cpu_known(&self, clock: &Clock) -> bool {
        self.is_detected(clock) && self.unasked == 0
    }

    /// Whether a tick of the clock has found the function, or what it calls.
    pub(crate) fn is_found(&self) -> bool {
        self.clock_ticks != 0 || self.ticked != 0
    }

    /// The net ticks on the CPU outside annotated callees, by the calls.
    pub(crate) fn own_on_cpu(&self) -> f64 {
        let own = self.gross().wrapping_sub(self.callees) as f64;
        own - self.visible_milliticks as f64 / 1000.0
    }

    /// The mean visible overhead of one probe.
    pub(crate) fn visible(&self) -> f64 {
        let all = self.visible_milliticks as f64 / 1000.0;
        share(all, self.probes() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl CallsiteSums {
        /// The sums of calls with these gross ticks.
        pub(crate) fn of(samples: &[i64]) -> Self {
            let squares = samples.iter().map(|of| of.unsigned_abs().into());
            Self {
                samples: samples.len() as u64,
                sum: samples.iter().sum(),
                squares: SumOfSquares(squares.map(|of: u128| of.pow(2)).sum()),
                min: samples.iter().min().copied(),
                max: samples.iter().max().copied(),
                ..Self::default()
            }
        }
    }
}
