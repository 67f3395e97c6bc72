//! One of the slowest calls of a callsite, as data.

#[cfg(has_callsites)]
use std::cmp::{Ordering, Reverse};

use super::WholeTicks;
use super::getters::data;
#[cfg(has_callsites)]
use crate::order::sorted;

data! {
    /// One of the slowest calls of a function. Ticks are net, as in the rows.
    pub struct SlowCall {
        /// When the call began, in nanoseconds after its process's first annotated call.
        begin_ns: u64,
        /// When it ended.
        end_ns: u64,
        /// The number of its process.
        pid: u32,
        /// The number of its thread, as the system's tools show it; elsewhere than on Linux, its place among the threads that measured.
        thread: u64,
        /// The thread's name, if it has one.
        thread_name: Option<String> => Option<&str> = as_deref(),
        /// The CPU on which the call ended.
        cpu: Option<u32>,
        /// What the call took, by which the slowest are chosen: on the CPU and blocked. Waiting for a CPU does not count, unless it is
        /// unknown. Of an async function, all of the time from its first poll to its completion.
        ticks: WholeTicks => f64 = to_f64(),
        /// The part of `ticks` on the CPU. Unknown of an async function of which a poll was interrupted.
        on_cpu_ticks: Option<WholeTicks> => Option<f64> = map(WholeTicks::to_f64),
        /// The part of `ticks` in which the thread had given up the CPU. Unknown of an async function.
        blocked_ticks: Option<WholeTicks> => Option<f64> = map(WholeTicks::to_f64),
        /// How long the thread was ready to run while another one ran. Unknown of an async function.
        waiting_ticks: Option<WholeTicks> => Option<f64> = map(WholeTicks::to_f64),
        /// The function, its caller, that one's caller and so on, as indices into the report's `callsites`: up to 16 callers, each function
        /// once. Callers that had not returned by the time of the report are only known in programs with light probes.
        path: Vec<u64> => &[u64],
        /// Whether a panic ended the call.
        panicked: bool,
        /// What the attribute's `record = …` gave.
        value: Option<RecordedValue> => Option<&RecordedValue> = as_ref(),
    }
}

/// What `#[cycles(record = …)]` has kept of a call.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "json",
    derive(serde::Serialize, serde::Deserialize),
    serde(untagged)
)]
#[non_exhaustive]
pub enum RecordedValue {
    /// A truth value.
    Bool(bool),
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// A finite floating-point number.
    Float(f64),
    /// A text; also `NaN`, `inf` and `-inf`.
    Text(String),
}

impl std::fmt::Display for RecordedValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Signed(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

#[cfg(has_callsites)]
impl SlowCall {
    /// The longest first. Equal ones have an order, too, so that the order of merging does not matter.
    fn order(&self, other: &Self) -> Ordering {
        let when_and_where = |of: &Self| [of.begin_ns, of.end_ns, of.pid.into(), of.thread];
        let key = |of: &Self| (Reverse(of.ticks), when_and_where(of));
        let by_key = key(self).cmp(&key(other));
        by_key.then_with(|| self.path.cmp(&other.path))
    }

    /// Sorts the calls, and keeps `most` of them.
    #[doc(hidden)]
    pub fn choose(calls: &mut Vec<Self>, most: u64) {
        *calls = sorted(calls, &Self::order);
        calls.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    }

    /// Whether both reports of one process mean the same call. Its times since the start depend on the report by some nanoseconds, and a
    /// later report may know more of its callers.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let place = |of: &Self| (of.pid, of.thread, of.cpu);
        let figures = |of: &Self| (of.ticks, of.on_cpu_ticks, of.waiting_ticks);
        (place(self), figures(self)) == (place(other), figures(other))
    }
}
