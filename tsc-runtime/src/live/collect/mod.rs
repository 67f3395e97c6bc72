//! Makes the report's data from the registry, the calibration and the facts about the machine.

pub(super) mod callsite;
pub(super) mod clock;
pub(super) mod contexts;
pub(super) mod process;
pub(super) mod slowest;
pub(super) mod tick_clock;
pub(super) mod timestamp;

use crate::record::callsite::Callsite;

/// Where callsites are in the report.
pub(super) struct Indices {
    /// By the callsites' numbers.
    by_number: Vec<Option<u64>>,
}

impl Indices {
    /// Of the callsites in the report's order.
    fn of<'a>(callsites: impl Iterator<Item = &'a Callsite>) -> Self {
        let mut by_number = Vec::new();
        for (index, callsite) in (0..).zip(callsites) {
            if let Some(number) = callsite.number() {
                let number = number as usize;
                by_number.resize(by_number.len().max(number + 1), None);
                by_number[number] = Some(index);
            }
        }
        Self { by_number }
    }

    /// Of the callsite with this number.
    fn get(&self, number: u32) -> Option<u64> {
        self.by_number.get(number as usize).copied().flatten()
    }
}
