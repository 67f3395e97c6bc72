//! The built-in instructions, and the table of their costs.
//!
//! To add one, add a line to the file of its group.

mod bits;
mod divide;
mod integer;
mod memory;
mod nops;
mod report;
mod system;
mod vector;

pub use report::{CatalogueReport, Row};

use super::Instruction;

/// A part of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    name: &'static str,
    instructions: &'static [Instruction],
}

impl Group {
    /// What its instructions have in common.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The instructions, in the order of the table.
    #[must_use]
    pub fn instructions(&self) -> &'static [Instruction] {
        self.instructions
    }
}

/// The catalogue, group by group. On architectures other than x86-64 there is none.
pub static GROUPS: &[Group] = &[
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Group {
        name: "no operation",
        instructions: nops::INSTRUCTIONS,
    },
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Group {
        name: "integer",
        instructions: integer::INSTRUCTIONS,
    },
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Group {
        name: "multiply and divide",
        instructions: divide::INSTRUCTIONS,
    },
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Group {
        name: "shifts and bits",
        instructions: bits::INSTRUCTIONS,
    },
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Group {
        name: "memory",
        instructions: memory::INSTRUCTIONS,
    },
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Group {
        name: "vector",
        instructions: vector::INSTRUCTIONS,
    },
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Group {
        name: "system",
        instructions: system::INSTRUCTIONS,
    },
];

/// Every instruction of the catalogue.
pub fn instructions() -> impl Iterator<Item = &'static Instruction> {
    GROUPS.iter().flat_map(|group| group.instructions)
}

/// The instruction of that name and those operands, if the catalogue has it.
#[must_use]
pub fn find(name: &str, operands: &str) -> Option<&'static Instruction> {
    instructions()
        .find(|instruction| instruction.name() == name && instruction.operands() == operands)
}

/// Measures the whole catalogue, showing on a terminal's stderr how far it is. Less than a minute.
#[must_use]
pub fn measure() -> CatalogueReport {
    measure_selected(|_| true)
}

/// Measures the instructions that `selected` picks.
#[must_use]
pub fn measure_selected(selected: impl Fn(&Instruction) -> bool) -> CatalogueReport {
    let picked: Vec<_> = instructions()
        .filter(|instruction| selected(instruction))
        .collect();
    let mut progress = crate::instruments::bench::progress::Progress::new();
    let rows = picked
        .iter()
        .enumerate()
        .map(|(done, instruction)| {
            progress.show(|| format!("{}/{} {instruction}", done + 1, picked.len()));
            Row::new(instruction, instruction.measure())
        })
        .collect();
    progress.clear();
    CatalogueReport::new(rows)
}
