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
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo).arg("-vV").output();
        let text = output.map(|output| String::from_utf8(output.stdout));
        text.map_or_else(|_| String::new(), Result::unwrap_or_default)
    })
}

/// Asks cargo. Unlike `MetadataCommand::exec`, this ends at a signal.
pub(super) fn answer(query: &MetadataCommand) -> Result<Metadata> {
    interrupt::check()?;
    let mut command = query.cargo_command();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().context("cargo cannot be started")?;
    let passing = interrupt::pass_to(&child);
    let output = child.wait_with_output()?;
    drop(passing);
    interrupt::check()?;
    if !output.status.success() {
        bail!("{}", first_cause(&String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8(output.stdout).context("cargo's metadata")?;
    let json = text.lines().find(|line| line.starts_with('{'));
    MetadataCommand::parse(json.unwrap_or_default()).context("cargo's metadata")
}

/// Cargo's message in one line, without its decoration.
fn first_cause(stderr: &str) -> String {
    let lines = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && *line != "Caused by:");
    let text: Vec<&str> = lines.collect();
    text.join(": ").trim_start_matches("error: ").to_owned()
}
