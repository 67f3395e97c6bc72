//! The result for one instruction.

use std::fmt;

use super::{Estimate, Instruction};

/// What an instruction costs, in core cycles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct Timing {
    instruction: &'static str,
    operands: &'static str,
    latency: Option<Estimate>,
    throughput: Option<Estimate>,
    check: Option<Estimate>,
}

impl Timing {
    pub(super) fn new(
        instruction: &Instruction,
        latency: Option<Estimate>,
        throughput: Option<Estimate>,
        check: Option<Estimate>,
    ) -> Self {
        Self {
            instruction: instruction.name(),
            operands: instruction.operands(),
            latency,
            throughput,
            check,
        }
    }

    /// The mnemonic.
    #[must_use]
    pub fn instruction(&self) -> &'static str {
        self.instruction
    }

    /// The operands.
    #[must_use]
    pub fn operands(&self) -> &'static str {
        self.operands
    }

    /// Core cycles from the instruction's start until a dependent instruction can use its result.
    #[must_use]
    pub fn latency(&self) -> Option<Estimate> {
        self.latency
    }

    /// Core cycles between the starts of two independent copies of the instruction (reciprocal throughput).
    #[must_use]
    pub fn throughput(&self) -> Option<Estimate> {
        self.throughput
    }

    /// How many additions took as long as a multiplication in the same rounds. There are figures only if this is 3, ± 1 %.
    #[must_use]
    pub fn check(&self) -> Option<Estimate> {
        self.check
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
