//! What cargo says when it is asked.

use std::env;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Metadata, MetadataCommand};

use crate::interrupt;

/// What cargo says of itself: its version, and the platform for which it builds by default. Empty if it says nothing.
#[must_use]
pub fn toolchain() -> &'static str {
    static TOOLCHAIN: OnceLock<String> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| {
        let output = cargo().arg("-vV").output();
        let text = output.map(|output| String::from_utf8(output.stdout));
        text.map_or_else(|_| String::new(), Result::unwrap_or_default)
    })
}

/// A command that starts cargo.
#[must_use]
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Asks cargo. Unlike `MetadataCommand::exec`, this ends at a signal.
pub(super) fn answer(query: &MetadataCommand) -> Result<Metadata> {
    let text = said(query.cargo_command())?;
    let json = text.lines().find(|line| line.starts_with('{'));
    MetadataCommand::parse(json.unwrap_or_default()).context("cargo's metadata")
}

/// What cargo prints, unless it fails or a signal arrives.
pub fn said(mut command: Command) -> Result<String> {
    interrupt::check()?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().context("cargo cannot be started")?;
    let passing = interrupt::pass_to(&child);
    let output = child.wait_with_output()?;
    drop(passing);
    interrupt::check()?;
    if !output.status.success() {
        bail!("{}", first_cause(&String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).context("what cargo says")
}

/// Cargo's message in one line, without its decoration, and without what it waited for before.
fn first_cause(stderr: &str) -> String {
    let lines = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && *line != "Caused by:")
        .filter(|line| !line.contains(" waiting for file lock on "));
    let text: Vec<&str> = lines.collect();
    text.join(": ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::first_cause;

    #[test]
    fn what_cargo_waited_for_is_no_part_of_its_error() {
        let said = "    Blocking waiting for file lock on package cache\nerror: no such file\n\nCaused by:\n  not found\n";
        assert_eq!(first_cause(said), "no such file: not found");
    }
}
