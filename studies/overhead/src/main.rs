//! Measures what an annotated call and its parts cost: `cargo run --release --manifest-path studies/overhead/Cargo.toml`.
//!
//! Every figure is a median over rounds in which all candidates take turns, so that changes of the machine's speed affect all of them.
//! Ratios are medians of the rounds' ratios. It prints a Markdown table for the release profile, and then one for the profile `lto`.

mod accuracy;
mod burst;
mod endurance;
mod hiding;
mod loops;
mod placement;
mod recursion;
mod subjects;
mod threads;

use std::process::{Command, ExitCode};

use tsc_runtime::affinity;

fn main() -> ExitCode {
    // The argument with which this program starts itself again, below.
    let only_this_profile = std::env::args().any(|argument| argument == "--lto");
    let profile = if only_this_profile { "lto" } else { "release" };
    if cfg!(debug_assertions) {
        eprintln!("overhead: build it with --release; figures of a debug build mean nothing");
        return ExitCode::FAILURE;
    }
    let cpus = affinity::cpus().unwrap_or_default();
    let pinned = cpus.last().map(|&cpu| affinity::pin(cpu));
    if let Some(Err(error)) = &pinned {
        eprintln!("overhead: {error}");
    }
    println!("## Profile `{profile}`\n");
    burst::run();
    hiding::run();
    recursion::run();
    accuracy::run();
    placement::run();
    loops::run();
    endurance::run();
    drop(pinned);
    threads::run(&cpus);
    if only_this_profile {
        return ExitCode::SUCCESS;
    }
    println!();
    run_with_lto()
}

/// Builds this program with link-time optimisation, by the same cargo, and runs it.
fn run_with_lto() -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--profile", "lto", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .args(["--", "--lto"])
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("overhead: the lto run ended with {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("overhead: cargo could not be run for the lto profile: {error}");
            ExitCode::FAILURE
        }
    }
}
