//! Can the figures taken on this machine be believed? One finding after the other: what was found, what it means for the
//! figures, and what to do about it.
//!
//! `cargo run --release -p examples --bin doctor`; the exit code is 1 if something is bad.

use std::io::Write;
use std::process::ExitCode;

use tsc_runtime::self_test::{Verdict, self_test};

fn main() -> ExitCode {
    let test = self_test();
    // Whoever reads this may stop reading.
    let _ = write!(std::io::stdout(), "{test}");
    if test.verdict() == Verdict::Bad {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
