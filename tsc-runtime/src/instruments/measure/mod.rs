//! Repeats a piece of work until its cost is constant, and says so; or says why it is not.
//!
//! A single timing means little: the first finds cold caches, another was interrupted, a third fell on a step of the counter.
//! [`measure`] repeats the work, throws away what was interrupted, and stops when the samples agree with one another from
//! the beginning to the end of the run. What comes out is a [`Verdict`]: constant, with the value and its error, or unsettled, with
//! the reason: the samples drift, gather around two values, were mostly interrupted, or the time was up.
//!
//! - *A sample* is as many calls between two fenced reads as make it well longer than the counter's step; before each call
//!   stands a fence, so that calls do not overlap unless asked to ([`Measure::overlapping`]). It begins after a pseudo-random
//!   wait of up to 63 cycles, so that the counter's step averages out.
//! - *The baseline*, an empty call in the same loop, alternates with the samples and is subtracted; [`measure_minus`] takes any
//!   other. The cycle or so that only fences with nothing in between cost is given back; it is found with a chain of known length.
//! - *Core cycles* come from a chain of dependent additions in the same rounds, since the core's clock wanders and the counter's
//!   does not. A run is constant if it is in ticks or in core cycles.
//!
//! ```no_run
//! use tsc_runtime::measure;
//!
//! let text = "a string of some length".repeat(40);
//! println!("{}", measure("count", || text.bytes().filter(|byte| *byte == b'e').count()));
//! ```

mod aligned;
mod builder;
mod display;
mod engine;
mod fence_hiding;
mod measurement;
mod rounds;
mod settling;
mod thread;
mod verdict;
mod work;

pub use crate::aligned;
pub use builder::Measure;
pub use measurement::{CoreRatio, Measurement};
pub use settling::{Note, Step};
pub use verdict::{UnsettledReason, Verdict};

pub(crate) use thread::{arm, attach_thread, interruption_since};
pub(crate) use work::isolate;

/// Measures `work` until its cost is constant, for a second at most.
///
/// [`Measure`] does the same with more to choose.
pub fn measure<R>(name: impl Into<String>, work: impl FnMut() -> R) -> Measurement {
    Measure::new(name).run(work)
}

/// Measures what `work` costs more than `baseline`: the two alternate, and the difference is what is reported.
pub fn measure_minus<A, B>(
    name: impl Into<String>,
    baseline: impl FnMut() -> A,
    work: impl FnMut() -> B,
) -> Measurement {
    Measure::new(name).minus(baseline, work)
}
