//! `cargo tsc completions` and `cargo tsc man`: what a shell and `man` know of the command line.

use std::io::Write as _;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::command_line::{CommandLine, CompletionsArgs, ManArgs};
use crate::exit::Exit;
use crate::output;
use crate::progress::{remark, shown};

/// The name of the program, by which shells and `man` know it.
const PROGRAM: &str = "cargo-tsc";

fn command(name: &'static str) -> clap::Command {
    CommandLine::command().name(name).bin_name(name)
}

/// Runs `cargo tsc completions`.
///
/// # Errors
/// If the output cannot be written.
pub fn completions(args: &CompletionsArgs) -> Result<Exit> {
    // Of a name with a hyphen, clap_complete 4.6.11 makes a script for bash that completes no options of the verbs.
    let plain = "cargo_tsc";
    let name = if args.shell == Shell::Bash {
        plain
    } else {
        PROGRAM
    };
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(name), name, &mut script);
    let script = String::from_utf8(script)?
        .replace(&format!("default {plain}"), &format!("default {PROGRAM}"));
    output::stdout().write_all(script.as_bytes())?;
    Ok(Exit::Fine)
}

/// Runs `cargo tsc man`.
///
/// # Errors
/// If the pages cannot be written.
pub fn man(args: &ManArgs) -> Result<Exit> {
    let Some(folder) = &args.folder else {
        clap_mangen::Man::new(command(PROGRAM)).render(&mut output::stdout())?;
        return Ok(Exit::Fine);
    };
    let context = || folder.display().to_string();
    std::fs::create_dir_all(folder).with_context(context)?;
    clap_mangen::generate_to(command(PROGRAM), folder).with_context(context)?;
    remark(&format!("wrote the pages to {}", shown(folder)));
    Ok(Exit::Fine)
}
