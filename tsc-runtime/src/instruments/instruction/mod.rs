//! Measures what a single instruction costs in core cycles, without performance counters and without privileges.
//!
//! The core clock is not the counter's clock: it changes from one millisecond to the next, and a virtual machine cannot read it. A ratio
//! of the two that was measured at the start may be wrong by 10 % later. But the ratio of two pieces of code that ran within the same few
//! microseconds is reliable. So each round runs the instruction and a chain of dependent additions, which take one core cycle each. Both
//! run in two lengths, first the short ones, then the long ones, and then all again in reverse order. The difference of the two lengths
//! contains neither the fences nor the loop's entry. The ratio of the sums over hundreds of rounds is in core cycles.
//!
//! Each round also runs a chain of multiplications. If a multiplication does not take as long as three additions, there is no result.
//!
//! ```no_run
//! # #[cfg(target_arch = "x86_64")] {
//! use tsc_runtime::instruction;
//!
//! let popcnt = instruction!("popcnt", "r64,r64", requires "popcnt", listing r"popcnt r\i, r\i");
//! println!("{}", popcnt.measure()?);
//! # }
//! # Ok::<(), tsc_runtime::instruction::InstructionError>(())
//! ```

mod error;
mod estimate;
mod listing;
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
    /// Measures latency and reciprocal throughput, each until its standard error is at most 0.07 % or 0.0007 cycles, or for 150 ms.
    ///
    /// # Errors
    ///
    /// The CPU does not have the instruction, the counter cannot be read, or the reference chain does not take as long as it should: see
    /// [`InstructionError`].
    pub fn measure(&self) -> Result<Timing, InstructionError> {
        self.measure_within(run::TIME_LIMIT)
    }

    /// Like [`measure`](Self::measure), with another time limit for each of the two figures. When the time is up, the figures are computed
    /// from the rounds so far, and their standard errors show how precise they are.
    ///
    /// # Errors
    ///
    /// Those of [`measure`](Self::measure).
    pub fn measure_within(&self, limit: Duration) -> Result<Timing, InstructionError> {
        run::measure(self, limit)
    }
}
