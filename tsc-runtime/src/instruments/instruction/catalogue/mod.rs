//! The built-in instructions, and the table of their costs.
//!
//! To add an instruction, add a line to the file of its group.

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

/// A group of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    name: &'static str,
    instructions: &'static [Instruction],
}

impl Group {
    /// The name of the group.
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

/// The catalogue, group by group. It is empty on architectures other than x86-64.
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

/// Finds the instruction with this name and these operands in the catalogue.
///
/// ```
/// use tsc_runtime::instruction::catalogue;
///
/// if let Some(imul) = catalogue::find("imul", "r64,r64") {
///     assert_eq!(imul.name(), "imul");
/// }
/// ```
#[must_use]
pub fn find(name: &str, operands: &str) -> Option<&'static Instruction> {
    instructions()
        .find(|instruction| instruction.name() == name && instruction.operands() == operands)
}

/// Measures the whole catalogue, in less than a minute. If standard error is a terminal, it shows the progress.
#[must_use]
pub fn measure() -> CatalogueReport {
    measure_selected(|_| true)
}

/// Measures the instructions for which `selected` returns true.
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
