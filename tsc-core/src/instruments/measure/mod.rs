//! Repeats a piece of work until its cost is constant, or reports why it is not.
//!
//! A single timing means little: the caches may be cold, the thread may be interrupted, and the counter advances in steps. [`measure`]
//! repeats the work, discards interrupted samples, and stops when the samples agree from the beginning to the end of the run. The result is
//! a [`Verdict`]: constant, with the value and its error; or unsettled, with the reason: the samples drift, gather around two values, are
//! scattered, were mostly interrupted, or the time was up.
//!
//! - *A sample* is a batch of calls between two fenced reads, large enough to be much longer than the counter's step. A fence precedes
//!   each call, so that calls do not overlap, unless [`Measure::overlapping`] lets them. A sample begins after a pseudo-random wait of up
//!   to 255 iterations of a loop, so that the counter's step averages out.
//! - *The baseline* is an empty call in the same loop. Its samples alternate with those of the work and are subtracted. [`measure_minus`]
//!   takes another baseline. Two fences take about one cycle more with nothing between them than with work between them. A chain of known
//!   length shows how much this is, and the result is corrected by it.
//! - *Core cycles* come from a chain of dependent additions in the same rounds, because the core clock changes and the counter's rate does
//!   not. A run is constant if it is constant in ticks or in core cycles.
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
mod verdict;
mod work;

pub use crate::aligned;
pub use builder::Measure;
pub use measurement::{CoreRatio, Measurement};
pub use settling::{Constant, Note, Step, constant};
pub use verdict::{UnsettledReason, Verdict};

pub(crate) use work::isolate;

/// Measures `work` until its cost is constant, for at most a second.
///
/// [`Measure`] has more options.
pub fn measure<R>(name: impl Into<String>, work: impl FnMut() -> R) -> Measurement {
    Measure::new(name).run(work)
}

/// Measures how much more `work` costs than `baseline`. Samples of the two alternate, and the result is their difference.
pub fn measure_minus<A, B>(
    name: impl Into<String>,
    baseline: impl FnMut() -> A,
    work: impl FnMut() -> B,
) -> Measurement {
    Measure::new(name).minus(baseline, work)
}
