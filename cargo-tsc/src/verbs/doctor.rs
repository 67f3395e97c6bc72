//! `cargo tsc doctor`: checks whether ticks that are measured on this machine can be trusted.

use std::io::Write as _;

use anyhow::Result;
use tsc_runtime::self_test::{Verdict, self_test};

use crate::command_line::DoctorArgs;
use crate::exit::Exit;
use crate::output::{styled_stdout, unless_closed};

/// Runs the verb.
///
/// # Errors
/// If the output cannot be written.
pub fn doctor(args: &DoctorArgs) -> Result<Exit> {
    let test = self_test();
    let mut out = styled_stdout();
    let printed = if args.json {
        writeln!(out, "{}", serde_json::to_string(&test)?)
    } else {
        write!(out, "{test}")
    };
    unless_closed(printed.map_err(Into::into))?;
    Ok(match test.verdict() {
        Verdict::Bad => Exit::NotComparable,
        _ => Exit::Fine,
    })
}
