//! Holds `measure`, `compare` and `instruction!` against what is known, and prints a markdown table.
//!
//! `cargo run --release -p tests --example instrument_checks [-- NAME …] [--table FILE.csv]`
//!
//! The names are the first column's; without any, all checks are made. `--table` is another table of instructions than
//! `tests/instrument_checks/instructions.csv`, in its columns. The exit code is 1 if a check fails.

use std::process::ExitCode;

#[cfg(target_arch = "x86_64")]
mod additions;
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
    /// `None`: it cannot be said here.
    holds: Option<bool>,
    /// What does not fit, line by line.
    details: Vec<String>,
}

#[cfg(target_arch = "x86_64")]
fn main() -> ExitCode {
    use tsc_runtime::affinity;

    let mut table = None;
    let mut wanted = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--table" {
            table = arguments.next();
        } else {
            wanted.push(argument);
        }
    }
    let cpu = affinity::cpus().ok().and_then(|cpus| cpus.last().copied());
    let _pinned = cpu.and_then(|cpu| affinity::pin(cpu).ok());

    let checks: [(&str, &dyn Fn() -> Check); 9] = [
        ("catalogue", &|| catalogue::against_table(table.as_deref())),
        ("catalogue-time", &catalogue::time),
        ("integers", &|| integers::twenty_times(cpu)),
        ("ladder", &lines::ladder),
        ("additions", &additions::known_lengths),
        ("same", &comparison::with_itself),
        ("one-percent", &comparison::one_percent),
        ("nops", &lines::nops),
        ("competitor", &|| additions::beside_a_competitor(cpu)),
    ];
    let mut all_hold = true;
    let mut details = Vec::new();
    println!("| check | must | measured | holds |\n|---|---|---|---|");
    for (name, check) in checks
        .iter()
        .filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|it| it == name))
    {
        let check = check();
        println!(
            "| {name} | {} | {} | {} |",
            check.must,
            check.measured,
            match check.holds {
                Some(true) => "yes",
                Some(false) => "no",
                None => "cannot be said here",
            }
        );
        all_hold &= check.holds != Some(false);
        details.extend(
            check
                .details
                .into_iter()
                .map(|line| format!("{name}: {line}")),
        );
    }
    if !details.is_empty() {
        println!("\n{}", details.join("\n"));
    }
    if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn main() -> ExitCode {
    println!("the checks are x86-64's");
    ExitCode::SUCCESS
}
