//! `cargo tsc list`: lists the saved sessions.

use std::io::Write as _;

use anyhow::Result;

use crate::command_line::ListArgs;
use crate::exit::Exit;
use crate::output;
use crate::progress::{name_of, remark, shown};
use crate::session::{self, Store};
use crate::table::{self, Table};

/// The width of a command, so that all columns fit into a usual terminal.
const COMMAND: usize = 40;

/// Runs the verb.
///
/// # Errors
/// If the folder of sessions cannot be read.
pub fn list(args: &ListArgs) -> Result<Exit> {
    let store = Store::here();
    let mut table = Table::new(["session", "started", "runs", "seconds", "command"]);
    let mut rows = Vec::new();
    for path in store.sessions()? {
        let name = name_of(&path);
        let session = session::load(Some(&path), &store);
        let Ok(session) = session.inspect_err(|error| remark(&format!("{error:#}"))) else {
            continue;
        };
        let started = session.runs.first().map(session::local_start);
        let about = session.about.clone().unwrap_or_default();
        // The sum of nothing would be -0.
        let seconds = about.runs.iter().fold(0.0, |sum, run| sum + run.seconds);
        table.push([
            name.clone().into(),
            started.unwrap_or_default().into(),
            session.runs.len().to_string().into(),
            format!("{seconds:.2}").into(),
            table::cut(&about.command.join(" "), COMMAND).into(),
        ]);
        if args.json {
            let functions = session.sum().map_or(0, |sum| sum.callsites().len());
            rows.push(serde_json::json!({
                "session": name, "path": path.display().to_string(), "runs": session.runs.len(), "functions": functions, "about": about,
            }));
        }
    }
    if args.json {
        output::print_json(&rows)?;
    } else if table.is_empty() {
        remark(&format!("no session in {}", shown(store.folder())));
    } else {
        write!(output::styled_stdout(), "{}", table.to_text(table::width()))?;
        remark(&format!("in {}", shown(store.folder())));
    }
    Ok(Exit::Fine)
}
