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
//! Where two threads share a core (SMT), the other one may be another program's, or another virtual machine's. While it is busy, the core
//! starts fewer instructions in a cycle. So each round also runs NOPs, and rounds in which they take longer than at the best of times on this
//! CPU are not used.
//!
//! ```no_run
//! # #[cfg(target_arch = "x86_64")] {
//! use tsc_runtime::instruction;
//!
//! // SAFETY: it changes a register that a listing may change.
//! let popcnt = unsafe { instruction!("popcnt", "r64,r64", requires "popcnt", listing r"popcnt r\i, r\i") };
//! println!("{}", popcnt.measure()?);
//! # }
//! # Ok::<(), tsc_runtime::instruction::InstructionError>(())
//! ```

use std::time::Duration;

use crate::tsc::TscUnavailable;
use tsc_report::__private::reasons;

mod estimate;
mod listing;
mod run;
#[cfg(target_os = "linux")]
mod trial;

pub use crate::instruments::instruction;
pub use crate::machine::microarchitecture;
pub use estimate::{Estimate, Timing};
pub use listing::{Instruction, Kernel};

reasons! {
    /// The reason why an instruction was not measured, or why its figure is not printed.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub enum InstructionError {
        /// This CPU does not have the feature of this name.
        Missing(feature: &'static str) = ("this CPU has no {feature}"),
        /// The counter cannot be read.
        NoCounter(reason: TscUnavailable) = ("{reason}") from,
        /// There are listings for x86-64 only.
        NotOnThisPlatform = ("instructions are measured on x86-64 only"),
        /// A multiplication did not take as long as three additions, so ticks cannot be converted to core cycles here.
        Untrustworthy {
            /// Additions per multiplication.
            ratio: f64,
        } = ("a multiplication took as long as {ratio:.3} additions instead of 3, so ticks cannot be converted to core cycles here"),
        /// The listing did not end within a second of CPU time, or within five seconds.
        Endless = ("the listing did not end within a second of CPU time: it loops for ever, or jumps to a label outside of it"),
        /// The listing was ended by this signal: it is not an instruction of this CPU (SIGILL), writes to memory that it may not use
        /// (SIGSEGV), or divides by zero (SIGFPE).
        Crashed {
            /// The signal's number.
            signal: i32,
        } = ("the listing was ended by signal {signal}: {}", meaning(*signal)),
        /// The listing's copies take so long that two rounds do not fit into the time limit.
        TooLong {
            /// The time that the copies took once.
            once: Duration,
            /// The time limit.
            limit: Duration,
        } = ("the listing's copies take {once:?}, and the limit is {limit:?}: use fewer `copies`, or `measure_within` a longer time"),
        /// Too few rounds could be used within the time limit.
        Disturbed {
            /// The rounds that were begun.
            rounds: usize,
            /// The rounds that were interrupted, or in which the core's other thread (SMT) was busy.
            dropped: usize,
        } = ("too few rounds could be used: {dropped} of {rounds} were interrupted, or the core's other thread was busy"),
    }
}

/// What a listing has done that a signal has ended.
fn meaning(signal: i32) -> &'static str {
    // Their numbers on x86-64.
    match signal {
        4 => "this CPU does not have the instruction",
        5 => "it stops for a debugger",
        8 => "it divides by zero, or the quotient has too many bits",
        _ => "it uses other memory, or an instruction that programs may not execute",
    }
}
