//! `cargo tsc merge`: adds the reports of many processes or hosts.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command_line::MergeArgs;
use crate::exit::Exit;
use crate::output;
use crate::progress::{counted, remark};
use crate::session::{self, Session, Store};
use crate::sources::whole;

/// Runs the verb.
///
/// # Errors
/// If a report cannot be read or cannot be added to the others, or if the sum cannot be written.
pub fn merge(args: &MergeArgs) -> Result<Exit> {
    let store = Store::here();
    let output = args.output.clone().map(whole);
    let mut reports = Vec::new();
    for name in &args.sessions {
        let mut session = session::load(Some(name), &store)?;
        if let Some(output) = &output {
            leave_out(output, &mut session)?;
        }
        let runs = session.runs.into_iter();
        reports.extend(runs.map(|report| (name.as_path(), report)));
    }
    let sum = session::sum(reports)?;
    if sum.left_out > 0 {
        remark(&format!(
            "left out, because others of the same processes contain them: {}",
            counted(sum.left_out, "report")
        ));
    }
    output::write_or_print(args.output.as_deref(), sum.report.to_json() + "\n")?;
    if let Some(path) = &args.output {
        let processes = counted(sum.report.processes() as usize, "process");
        remark(&format!("{processes} in {}", path.display()));
    }
    Ok(Exit::Fine)
}

/// Leaves out the sum of an earlier call, which is to be replaced.
fn leave_out(output: &Path, session: &mut Session) -> Result<()> {
    let path = output.display();
    if whole(session.path.clone()) == output {
        bail!("{path}: it is also the file for the sum: give that another name");
    }
    let is_output = |folder: &String| whole(session.path.join(folder)) == output;
    let Some(at) = session.folders.iter().position(is_output) else {
        return Ok(());
    };
    session.folders.remove(at);
    session.runs.remove(at);
    if session.runs.is_empty() {
        bail!("{path}: there is no other report beside the file for the sum");
    }
    remark(&format!("left out, because it is to be written: {path}"));
    Ok(())
}
