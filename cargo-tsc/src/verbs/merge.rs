//! `cargo tsc merge`: adds the reports of many processes or hosts.

use anyhow::{Context as _, Result};
use tsc_report::Report;

use crate::command_line::MergeArgs;
use crate::exit::Exit;
use crate::output;
use crate::progress::remark;
use crate::session::{self, Store};

/// Runs the verb.
///
/// # Errors
/// If a report cannot be read or cannot be added to the others, or if the sum cannot be written.
pub fn merge(args: &MergeArgs) -> Result<Exit> {
    let store = Store::here();
    let mut sum = Report::default();
    for name in &args.sessions {
        for report in session::load(Some(name), &store)?.runs {
            sum.merge(&report)
                .with_context(|| name.display().to_string())?;
        }
    }
    output::write_or_print(args.output.as_deref(), sum.to_json() + "\n")?;
    if let Some(path) = &args.output {
        let (processes, path) = (sum.processes(), path.display());
        remark(&format!("{processes} processes in {path}"));
    }
    Ok(Exit::Fine)
}
