//! The size of an executable's code.

use std::io;
use std::path::Path;
use std::process::Command;

use transparency::programs::process::output;

/// The bytes of the section with the code.
pub(crate) fn code(executable: &Path) -> io::Result<f64> {
    let text = output(Command::new("size").arg("-A").arg(executable))?;
    let size = text.lines().find_map(|line| {
        let mut fields = line.split_whitespace();
        (fields.next() == Some(".text")).then(|| fields.next()?.parse().ok())?
    });
    size.ok_or_else(|| io::Error::other(format!("{}: no code", executable.display())))
}

/// How many annotated functions are in the executable. The linker leaves out those that nothing calls.
pub(crate) fn callsites(executable: &Path) -> io::Result<f64> {
    let text = output(Command::new("nm").arg(executable))?;
    let callsites = text.lines().filter(|line| line.contains("__CALLSITE"));
    Ok(callsites.count() as f64)
}
