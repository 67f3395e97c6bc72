//! `cargo tsc doctor`: checks whether ticks that are measured on this machine can be trusted.

use std::io::Write as _;

use anyhow::Result;
use tsc_runtime::self_test::{Verdict, self_test};

use crate::command_line::DoctorArgs;
use crate::exit::Exit;
use crate::output::{print_json, styled_stdout, unless_closed};

/// Runs the verb.
///
/// # Errors
/// If the output cannot be written.
pub fn doctor(args: &DoctorArgs) -> Result<Exit> {
    let test = self_test();
    let printed = match args.json {
        true => print_json(&test),
        false => write!(styled_stdout(), "{test}").map_err(Into::into),
    };
    unless_closed(printed)?;
    Ok(match test.verdict() {
        Verdict::Bad => Exit::NotComparable,
        _ => Exit::Fine,
    })
}
