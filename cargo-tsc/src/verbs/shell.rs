//! `cargo tsc completions` and `cargo tsc man`: what a shell and `man` know of the command line.

use std::io::Write as _;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;

use crate::command_line::{CommandLine, CompletionsArgs, ManArgs};
use crate::exit::Exit;
use crate::progress::{remark, shown};

/// The name of the program, by which shells and `man` know it.
const PROGRAM: &str = "cargo-tsc";

fn command() -> clap::Command {
    CommandLine::command().name(PROGRAM).bin_name(PROGRAM)
}

/// Runs `cargo tsc completions`.
///
/// # Errors
/// If the output cannot be written.
pub fn completions(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), PROGRAM, &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Fine)
}

/// Runs `cargo tsc man`.
///
/// # Errors
/// If the pages cannot be written.
pub fn man(args: &ManArgs) -> Result<Exit> {
    let Some(folder) = &args.folder else {
        clap_mangen::Man::new(command()).render(&mut std::io::stdout().lock())?;
        return Ok(Exit::Fine);
    };
    let context = || folder.display().to_string();
    std::fs::create_dir_all(folder).with_context(context)?;
    clap_mangen::generate_to(command(), folder).with_context(context)?;
    remark(&format!("wrote the pages to {}", shown(folder)));
    Ok(Exit::Fine)
}
