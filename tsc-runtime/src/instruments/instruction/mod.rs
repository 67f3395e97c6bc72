//! What a single instruction costs, in core cycles, without a PMU and without privileges.
//!
//! A core's clock is not the counter's: it changes from one millisecond to the next, and in a virtual machine nothing says so.
//! A ratio of the two that was measured at the start is worth ± 10 % later. What does hold is the ratio of two pieces of
//! code that ran within the same few microseconds. So every round here runs the instruction between two lengths of a
//! chain of dependent additions, which take a core cycle each, there and back; differences of two lengths leave neither fences
//! nor loop entry in, and the ratio of the sums over some hundred rounds is core cycles.
//!
//! A chain of multiplications runs along in each round: it must come out at three additions per link, or no figure is given.
//!
//! ```no_run
//! use tsc_runtime::instruction;
//!
//! let popcnt = instruction!("popcnt", "r64,r64", requires "popcnt", listing r"popcnt r\i, r\i");
//! println!("{}", popcnt.measure()?);
//! for row in instruction::catalogue::measure().rows() {
//!     println!("{row}");
//! }
//! # Ok::<(), tsc_runtime::instruction::InstructionError>(())
//! ```

pub mod catalogue;
mod error;
mod estimate;
mod listing;

mod requirement;
mod run;
mod timing;
#[cfg(target_os = "linux")]
mod trial;

pub use crate::instruments::instruction;
pub use crate::machine::microarchitecture;
pub use error::InstructionError;
pub use estimate::Estimate;
pub use listing::{Instruction, Kernel};
pub use timing::Timing;

use std::time::Duration;

impl Instruction {
    /// Measures latency and reciprocal throughput, each for as long as it takes to know them to 0.07 %, 150 ms at most.
    ///
    /// # Errors
    ///
    /// The CPU lacks the instruction, the counter cannot be read, or the reference chain is not what it should be:
    /// see [`InstructionError`].
    pub fn measure(&self) -> Result<Timing, InstructionError> {
        self.measure_within(run::TIME_LIMIT)
    }

    /// As [`measure`](Self::measure), with another limit for each of the two figures. When the time is up the figures are what
    /// is known until then; their standard errors say how well.
    ///
    /// # Errors
    ///
    /// As [`measure`](Self::measure).
    pub fn measure_within(&self, limit: Duration) -> Result<Timing, InstructionError> {
        run::measure(self, limit)
    }
}
