//! Some two hundred instructions of x86-64, and the table of their costs.
//!
//! To add an instruction, add a line to the file of its group.

mod bits;
mod divide;
mod integer;
mod memory;
mod nops;
mod system;
mod vector;

use std::fmt::{self, Write};

use tsc_runtime::instruction::{
    Estimate, Instruction, InstructionError, Timing, microarchitecture,
};

/// Every instruction of the catalogue, group by group.
pub fn instructions() -> impl Iterator<Item = &'static Instruction> {
    [
        nops::INSTRUCTIONS,
        integer::INSTRUCTIONS,
        divide::INSTRUCTIONS,
        bits::INSTRUCTIONS,
        memory::INSTRUCTIONS,
        vector::INSTRUCTIONS,
        system::INSTRUCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Finds the instruction with this name and these operands.
pub fn find(name: &str, operands: &str) -> Option<&'static Instruction> {
    instructions().find(|it| it.name() == name && it.operands() == operands)
}

/// One instruction, and the result of measuring it.
pub struct Row {
    /// The instruction.
    pub instruction: &'static Instruction,
    /// The figures, or the reason why there are none.
    pub outcome: Result<Timing, InstructionError>,
}

impl Row {
    /// Measures the instruction.
    pub fn of(instruction: &'static Instruction) -> Self {
        Self {
            instruction,
            outcome: instruction.measure(),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = |estimate: Option<Estimate>| {
            estimate.map_or_else(|| "-".to_owned(), |it| it.to_string())
        };
        let name = self.instruction.to_string();
        match &self.outcome {
            Ok(timing) => write!(
                f,
                "{name:<44} {:>18}   {:>18}",
                figure(timing.latency()),
                figure(timing.throughput())
            ),
            Err(reason) => write!(f, "{name:<44} skipped: {reason}"),
        }
    }
}

/// The heading of the [`Row`]s.
pub fn heading() -> String {
    format!(
        "{:<44} {:>18}   {:>18}",
        "core cycles", "latency", "per instruction"
    )
}

/// The rows as CSV, with the columns `instruction,operands,uarch,latency_cycles,recip_throughput_cycles,source`. Rows that were skipped are
/// left out.
pub fn csv(rows: &[Row]) -> String {
    let mut text =
        String::from("instruction,operands,uarch,latency_cycles,recip_throughput_cycles,source\n");
    let core = microarchitecture().unwrap_or("unknown");
    let cell = |estimate: Option<Estimate>| {
        estimate.map_or_else(String::new, |it| format!("{:.3}", it.cycles()))
    };
    for Row {
        instruction,
        outcome,
    } in rows
    {
        let Ok(timing) = outcome else { continue };
        let _ = writeln!(
            text,
            "{},{},{core},{},{},\"measured by tsc-runtime {} against a chain of dependent additions\"",
            quoted(instruction.name()),
            quoted(instruction.operands()),
            cell(timing.latency()),
            cell(timing.throughput()),
            env!("CARGO_PKG_VERSION"),
        );
    }
    text
}

/// A field of a CSV row.
fn quoted(field: &str) -> String {
    if field.contains([',', '"']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogue_is_large_and_without_doubles() {
        let names: Vec<_> = instructions()
            .map(|it| (it.name(), it.operands()))
            .collect();
        let different: std::collections::HashSet<_> = names.iter().collect();
        assert!(names.len() >= 60);
        assert_eq!(different.len(), names.len());
    }

    #[test]
    fn tables_have_a_row_each() {
        let imul = instructions().filter(|it| it.name() == "imul");
        let rows: Vec<Row> = imul.map(Row::of).collect();
        let measured = rows.iter().filter(|row| row.outcome.is_ok()).count();
        assert_eq!(csv(&rows).lines().count(), 1 + measured);
        assert!(rows.iter().all(|row| row.to_string().starts_with("imul")));
    }
}
