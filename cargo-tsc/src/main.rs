//! `cargo tsc`: shows where a program's TSC ticks go, and whether a change helped.

#![forbid(unsafe_code)]
#![allow(unreachable_pub)] // the modules of a binary are public to each other

mod all;
mod build;
mod command_line;
mod cpus;
mod diff;
mod escape;
mod execute;
mod exit;
mod export;
mod git;
mod input;
mod interrupt;
mod lock;
mod nearest;
mod output;
mod progress;
mod rows;
mod session;
mod share;
mod sources;
mod stacks;
mod table;
#[cfg(test)]
mod test_files;
mod verbs;

use std::io::Write as _;
use std::process::ExitCode;

use cargo_tsc::{annotate, statistics};
use clap::Parser as _;

use command_line::{CommandLine, Verb};
use exit::Exit;
use interrupt::Interrupted;

/// The error and its causes. Lines after the first are indented, so that they are not taken for others.
fn message(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let lines: Vec<String> = text.lines().map(escape::escaped).collect();
    lines.join("\n  ")
}

fn main() -> ExitCode {
    if let Some(exit) = build::links::take_place().or_else(all::take_place) {
        return exit;
    }
    let mut words: Vec<_> = std::env::args_os().collect();
    // cargo starts `cargo-tsc tsc …`.
    if words.get(1).is_some_and(|word| word == "tsc") {
        words.remove(1);
    }
    let command_line = CommandLine::parse_from(words);
    command_line.voice.set();
    let exit = match &command_line.verb {
        Verb::Run(args) => verbs::run::run(args),
        Verb::Ab(args) => verbs::ab::ab(args),
        Verb::Doctor(args) => verbs::doctor::doctor(args),
        Verb::Top(args) => verbs::top::top(args),
        Verb::Report(args) => verbs::report::report(args),
        Verb::Diff(args) => verbs::diff::diff(args),
        Verb::Export(args) => verbs::export::export(args),
        Verb::Gate(args) => verbs::diff::gate(args),
        Verb::List(args) => verbs::list::list(args),
        Verb::Merge(args) => verbs::merge::merge(args),
        Verb::Annotate(args) => verbs::annotate::annotate(args),
        Verb::Completions(args) => verbs::shell::completions(args),
        Verb::Man(args) => verbs::shell::man(args),
    };
    // A full disk may become known only now.
    let exit = exit.and_then(|exit| {
        let flushed = output::stdout().flush();
        output::unless_closed(flushed.map_err(Into::into)).map(|()| exit)
    });
    let exit = exit.unwrap_or_else(|error| {
        if output::is_closed(&error) {
            return Exit::Fine;
        }
        if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
            progress::remark("interrupted");
            return Exit::Program(interrupted.status());
        }
        // Without a terminal that could show it, the status says it.
        let _ = writeln!(anstream::stderr(), "error: {}", message(&error));
        Exit::Unusable
    });
    exit.into()
}
