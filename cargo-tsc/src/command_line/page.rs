//! The page of the commands in `docs`, made of what `--help` says.

use clap::{Arg, Command, CommandFactory as _};

use super::CommandLine;

#[path = "../../../tests/generated.rs"]
mod generated;

#[test]
fn page_of_commands_is_the_help() {
    let mut program = CommandLine::command();
    program.build();
    let mut page = String::new();
    for verb in program.get_subcommands() {
        if verb.get_name() != "help" {
            page += &section(verb);
        }
    }
    page += &format!("{}\n", program.get_after_help().expect("exit statuses"));
    generated::check_part(
        "commands.md",
        "cargo test -p cargo-tsc --bins commands",
        &page,
    );
}

/// A command with a table of its options.
fn section(verb: &Command) -> String {
    let about = verb.get_about().expect("every command has a line of help");
    let mut section = format!(
        "## `{}`\n\n{about}.\n\n| option | meaning |\n|---|---|\n",
        verb.get_name()
    );
    for arg in verb.get_arguments().filter(|arg| arg.get_id() != "help") {
        section += &format!("| `{}` | {} |\n", spelling(arg), meaning(arg));
    }
    section.push('\n');
    section
}

/// The option as a user writes it: `-n, --runs N`.
fn spelling(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let mut words: Vec<String> = short.into_iter().chain(long).collect();
    let takes_value = arg.get_action().takes_values();
    let value = arg.get_value_names().map(|names| names.join(" "));
    let value = value.filter(|_| takes_value).unwrap_or_default();
    if words.is_empty() {
        return value;
    }
    let last = words.pop().unwrap_or_default();
    words.push(format!("{last} {value}").trim_end().to_owned());
    words.join(", ")
}

/// What it does, its values and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_help().expect("every option has a line of help");
    let mut meaning = format!("{help}");
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}`: {help}", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !values.is_empty() && arg.get_action().takes_values() {
        let separator = if values.iter().any(|value| value.contains(": ")) {
            "; "
        } else {
            ", "
        };
        meaning += &format!(". One of {}", values.join(separator));
    }
    let defaults = arg.get_default_values();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let defaults: Vec<_> = defaults
            .iter()
            .map(|value| value.to_string_lossy())
            .collect();
        meaning += &format!(" [default: {}]", defaults.join(" "));
    }
    meaning.replace('|', "\\|")
}
