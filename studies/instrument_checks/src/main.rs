//! Compares results of `measure`, `compare` and `instruction!` with known ones, and prints a Markdown table.
//!
//! `cargo run --release --manifest-path studies/instrument_checks/Cargo.toml [-- NAME …] [--table FILE.csv]`
//!
//! The names are those in the first column; without names, all checks are made. `--table` is a table of instructions with the columns of
//! `studies/instrument_checks/src/instructions.csv`, which is used otherwise. The exit code is 1 if a check fails.

#[cfg(target_arch = "x86_64")]
use std::io::{self, Write};
use std::process::ExitCode;

#[cfg(target_arch = "x86_64")]
use arguments::{NAMES, Request};
#[cfg(target_arch = "x86_64")]
use examples::command;
#[cfg(target_arch = "x86_64")]
use tsc_runtime::affinity;

#[cfg(target_arch = "x86_64")]
mod additions;
#[cfg(target_arch = "x86_64")]
mod arguments;
#[cfg(target_arch = "x86_64")]
mod catalogue;
#[cfg(target_arch = "x86_64")]
mod comparison;
#[cfg(target_arch = "x86_64")]
mod competitor;
#[cfg(target_arch = "x86_64")]
mod integers;
#[cfg(target_arch = "x86_64")]
mod lines;

/// A line of the table.
#[cfg(target_arch = "x86_64")]
struct Check {
    must: &'static str,
    measured: String,
    /// `None` if it cannot be decided here.
    holds: Option<bool>,
    /// What does not fit, line by line.
    details: Vec<String>,
}

#[cfg(target_arch = "x86_64")]
fn main() -> ExitCode {
    match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Run { names, table }) => {
            let mut all_hold = true;
            let printed = command::print("instrument_checks", |out| {
                all_hold = check(&names, table.as_deref(), out)?;
                Ok(())
            });
            if all_hold { printed } else { ExitCode::FAILURE }
        }
        Ok(Request::Help) => command::print("instrument_checks", |out| {
            Ok(writeln!(out, "{}", arguments::help())?)
        }),
        Err(error) => {
            eprintln!("instrument_checks: {error}\n{}", arguments::USAGE);
            ExitCode::from(2)
        }
    }
}

/// Makes the checks of these names, or all if there are none. Whether all hold.
#[cfg(target_arch = "x86_64")]
fn check(names: &[String], table: Option<&str>, out: &mut dyn Write) -> io::Result<bool> {
    let cpu = affinity::cpus().ok().and_then(|cpus| cpus.last().copied());
    let _pinned = cpu.and_then(|cpu| affinity::pin(cpu).ok());

    let checks: [(&str, &dyn Fn() -> Check); NAMES.len()] = [
        ("catalogue", &|| catalogue::against_table(table)),
        ("catalogue-time", &catalogue::time),
        ("integers", &|| integers::twenty_times(cpu)),
        ("ladder", &lines::ladder),
        ("additions", &additions::known_lengths),
        ("default", &|| additions::by_default(cpu)),
        ("same", &comparison::with_itself),
        ("one-percent", &comparison::one_percent),
        ("nops", &lines::nops),
        ("competitor", &|| additions::beside_a_competitor(cpu)),
    ];
    let mut all_hold = true;
    let mut details = Vec::new();
    writeln!(
        out,
        "| check | must | measured | holds |\n|---|---|---|---|"
    )?;
    for (name, check) in checks
        .iter()
        .filter(|(name, _)| names.is_empty() || names.iter().any(|it| it == name))
    {
        let check = check();
        writeln!(
            out,
            "| {name} | {} | {} | {} |",
            check.must,
            check.measured,
            match check.holds {
                Some(true) => "yes",
                Some(false) => "no",
                None => "cannot be decided here",
            }
        )?;
        all_hold &= check.holds != Some(false);
        details.extend(
            check
                .details
                .into_iter()
                .map(|line| format!("{name}: {line}")),
        );
    }
    if !details.is_empty() {
        writeln!(out, "\n{}", details.join("\n"))?;
    }
    Ok(all_hold)
}

#[cfg(not(target_arch = "x86_64"))]
fn main() -> ExitCode {
    println!("the checks are x86-64's");
    ExitCode::SUCCESS
}
