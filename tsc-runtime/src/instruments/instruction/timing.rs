//! The result for one instruction.

use std::fmt;

use super::Estimate;
use crate::data::data;

data! {
    /// What an instruction costs, in core cycles.
    pub struct Timing {
        /// The mnemonic.
        instruction: &'static str,
        /// The operands.
        operands: &'static str,
        /// Core cycles from the instruction's start until a dependent instruction can use its result.
        latency: Option<Estimate>,
        /// Core cycles between the starts of two independent copies of the instruction (reciprocal throughput).
        throughput: Option<Estimate>,
        /// How many additions took as long as a multiplication in the same rounds. There are figures only if this is 3, ± 1 %.
        check: Option<Estimate>,
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{} {}", self.instruction, self.operands);
        let figure = |estimate: Option<Estimate>| {
            estimate.map_or_else(|| "-".to_owned(), |it| it.to_string())
        };
        write!(
            f,
            "{name:<44} latency {:>18}   per instruction {:>18}",
            figure(self.latency),
            figure(self.throughput)
        )
    }
}
