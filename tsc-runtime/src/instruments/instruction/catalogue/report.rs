//! The catalogue's table.

use std::fmt::{self, Write};

use crate::instruments::instruction::{
    Estimate, Instruction, InstructionError, Timing, microarchitecture,
};

/// One instruction of the catalogue, and the result of measuring it.
#[derive(Clone, Debug)]
pub struct Row {
    instruction: &'static Instruction,
    outcome: Result<Timing, InstructionError>,
}

impl Row {
    pub(super) fn new(
        instruction: &'static Instruction,
        outcome: Result<Timing, InstructionError>,
    ) -> Self {
        Self {
            instruction,
            outcome,
        }
    }

    /// The instruction.
    #[must_use]
    pub fn instruction(&self) -> &'static Instruction {
        self.instruction
    }

    /// The figures, or the reason why there are none.
    ///
    /// # Errors
    ///
    /// The reason why there are no figures.
    pub fn outcome(&self) -> Result<&Timing, &InstructionError> {
        self.outcome.as_ref()
    }

    fn latency(&self) -> Option<Estimate> {
        self.outcome.as_ref().ok()?.latency()
    }

    fn throughput(&self) -> Option<Estimate> {
        self.outcome.as_ref().ok()?.throughput()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Ok(timing) => timing.fmt(f),
            Err(reason) => write!(f, "{:<44} skipped: {reason}", self.instruction.to_string()),
        }
    }
}

/// The measured catalogue.
#[derive(Clone, Debug)]
pub struct CatalogueReport {
    rows: Vec<Row>,
}

impl CatalogueReport {
    pub(super) fn new(rows: Vec<Row>) -> Self {
        Self { rows }
    }

    /// The rows, in the order of the catalogue.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The table as CSV, with the columns `instruction,operands,uarch,latency_cycles,recip_throughput_cycles,source`. Rows that were
    /// skipped are left out.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "instruction,operands,uarch,latency_cycles,recip_throughput_cycles,source\n",
        );
        let core = microarchitecture().unwrap_or("unknown");
        for row in self.rows.iter().filter(|row| row.outcome.is_ok()) {
            let cell = |estimate: Option<Estimate>| {
                estimate.map_or_else(String::new, |it| format!("{:.3}", it.cycles()))
            };
            let _ = writeln!(
                text,
                "{},{},{core},{},{},\"measured by tsc-runtime {} against a chain of dependent additions\"",
                quoted(row.instruction.name()),
                quoted(row.instruction.operands()),
                cell(row.latency()),
                cell(row.throughput()),
                env!("CARGO_PKG_VERSION"),
            );
        }
        text
    }
}

impl fmt::Display for CatalogueReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<44} {:>18}   {:>18}",
            "core cycles", "latency", "per instruction"
        )?;
        for row in &self.rows {
            let figure = |estimate: Option<Estimate>| {
                estimate.map_or_else(|| "-".to_owned(), |it| it.to_string())
            };
            let name = row.instruction.to_string();
            match &row.outcome {
                Ok(_) => writeln!(
                    f,
                    "{name:<44} {:>18}   {:>18}",
                    figure(row.latency()),
                    figure(row.throughput())
                )?,
                Err(reason) => writeln!(f, "{name:<44} skipped: {reason}")?,
            }
        }
        Ok(())
    }
}

/// A field of a CSV row.
fn quoted(field: &str) -> String {
    if field.contains([',', '"']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

#[cfg(feature = "json")]
impl serde::Serialize for CatalogueReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(RowAsJson))
    }
}

#[cfg(feature = "json")]
struct RowAsJson<'a>(&'a Row);

#[cfg(feature = "json")]
impl serde::Serialize for RowAsJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut row = serializer.serialize_struct("Row", 5)?;
        row.serialize_field("instruction", self.0.instruction.name())?;
        row.serialize_field("operands", self.0.instruction.operands())?;
        row.serialize_field("latency", &self.0.latency())?;
        row.serialize_field("throughput", &self.0.throughput())?;
        row.serialize_field(
            "skipped",
            &self.0.outcome.as_ref().err().map(ToString::to_string),
        )?;
        row.end()
    }
}
