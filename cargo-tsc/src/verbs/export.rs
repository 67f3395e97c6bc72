//! `cargo tsc export`: writes a report in another program's format.

use std::fs;
use std::io::Write as _;

use anyhow::{Context as _, Result};

use crate::command_line::ExportArgs;
use crate::exit::Exit;
use crate::export;
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
    match &args.output {
        // The file is renamed into place, because node_exporter may read it at any time.
        Some(path) => {
            let beside = {
                let mut name = path.clone().into_os_string();
                name.push(".new");
                std::path::PathBuf::from(name)
            };
            fs::write(&beside, bytes)
                .and_then(|()| fs::rename(&beside, path))
                .with_context(|| path.display().to_string())?;
        }
        None => std::io::stdout().lock().write_all(&bytes)?,
    }
    Ok(Exit::Fine)
}
