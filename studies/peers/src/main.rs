//! Compares this crate with other profilers.
//!
//! `cargo run --release --manifest-path studies/peers/Cargo.toml [-- OPTION… [CONTESTANT…]]` builds the contestants, runs them in turns and
//! prints the tables of `RESULTS.md`.
//! - `--quick`: only the cost of a call and the accuracy, in under a minute.
//! - `--only burst|sustained|threads|recursion|build`: one scenario. `build` has three tables: what annotations cost in a build, what the
//!   parts of this crate's annotation cost, and what annotations leave when they are off.
//! - `--rounds N`: how often each contestant runs.

mod command {
    pub(crate) mod arguments;
    pub(crate) mod build;
    pub(crate) mod burst;
    pub(crate) mod claims;
    pub(crate) mod machine;
    pub(crate) mod recursion;
    pub(crate) mod roster;
    pub(crate) mod rounds;
    pub(crate) mod spread;
    pub(crate) mod sustained;
    pub(crate) mod threads;
}

use std::process::ExitCode;

use command::arguments::Arguments;
use command::{build, burst, claims, machine, recursion, roster, rounds, sustained, threads};

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("peers: {message}");
            return ExitCode::from(2);
        }
    };
    let contestants = roster::built(&arguments.names);
    if contestants.is_empty() {
        eprintln!("peers: there is no contestant of that name");
        return ExitCode::FAILURE;
    }
    machine::print();
    let run =
        |scenario, count| rounds::run(&contestants, scenario, arguments.rounds.unwrap_or(count));
    let mut claims = claims::Claims::default();
    if arguments.wants("burst") {
        let rounds = run("burst", 11);
        burst::print(&rounds);
        claims.burst(&rounds);
    }
    if arguments.wants("sustained") {
        let rounds = run("sustained", 3);
        sustained::print(&rounds);
        claims.sustained(&rounds);
    }
    if arguments.wants("threads") {
        threads::print(&run("threads", 5));
    }
    if arguments.wants("recursion") {
        recursion::print(&run("recursion", 5));
    }
    if arguments.wants("build") {
        build::print(arguments.rounds.unwrap_or(5), &mut claims);
    }
    claims.print();
    ExitCode::SUCCESS
}
