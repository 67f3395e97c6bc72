//! Why an instruction has no figures.

use std::time::Duration;

use crate::named::reasons;
use crate::tsc::TscUnavailable;

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
        /// The listing was ended by this signal: it is not an instruction of this CPU (SIGILL), writes to memory that it may not use, or
        /// divides by zero.
        Crashed {
            /// The signal's number.
            signal: i32,
        } = ("the listing was ended by signal {signal}: this CPU does not have the instruction, or the listing uses other memory"),
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
            /// The rounds that were interrupted.
            dropped: usize,
        } = ("too few rounds could be used: {dropped} of {rounds} were interrupted"),
    }
}
