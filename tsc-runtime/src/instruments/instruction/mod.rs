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
