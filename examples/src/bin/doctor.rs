//! Checks whether the figures of this machine can be trusted. For each finding, it prints what was found, what it means for the figures,
//! and what to do about it.
//!
//! `cargo run --release -p examples --bin doctor`; the exit code is 1 if a finding is bad.

use std::process::ExitCode;

use examples::command::Example;
use tsc_runtime::self_test::{Verdict, self_test};

const EXAMPLE: Example = Example {
    name: "doctor",
    about: "Checks whether the figures of this machine can be trusted, and prints what it finds.\n\
            The exit code is 1 if a finding is bad.",
    flags: &[],
};

fn main() -> ExitCode {
    let mut is_bad = false;
    let printed = EXAMPLE.run(|_, out| {
        let test = self_test();
        is_bad = test.verdict() == Verdict::Bad;
        Ok(write!(out, "{test}")?)
    });
    if is_bad { ExitCode::FAILURE } else { printed }
}
