//! `cargo tsc export`: writes a report in another program's format.

use anyhow::Result;

use crate::command_line::ExportArgs;
use crate::exit::Exit;
use crate::export;
use crate::output;
use crate::session::{self, Store};

/// Runs the verb.
///
/// # Errors
/// If there is no such session, if it does not have what the format needs, or if the output cannot be written.
pub fn export(args: &ExportArgs) -> Result<Exit> {
    let session = session::load(args.session.as_deref(), &Store::here())?;
    let bytes = match args.format {
        Some(format) => export::export(&session, format)?,
        None => (session.sum()?.to_json() + "\n").into_bytes(),
    };
    output::write_or_print(args.output.as_deref(), bytes)?;
    Ok(Exit::Fine)
}
