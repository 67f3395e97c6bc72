//! Measures 0, 1, 2, 3 … RDTSC between the fences. If the measurement is correct, none costs nothing, and each RDTSC after the
//! first adds the same.
//!
//! `cargo run --release -p examples --bin rdtsc_ladder`

#[cfg(target_arch = "x86_64")]
mod article;
#[cfg(target_arch = "x86_64")]
mod no_operation;
#[cfg(target_arch = "x86_64")]
mod rungs;
#[cfg(target_arch = "x86_64")]
mod step;

use std::io::Write;
use std::process::ExitCode;

use examples::command::{Example, Outcome};

const EXAMPLE: Example = Example {
    name: "rdtsc_ladder",
    about: "Measures nothing by each fence policy, \"Hello World\", and 0, 1, 2 ... 16 RDTSC between the fences,\n\
            as \"Performance counters with inline assembly macros\" (CodeProject 288821, 2011) did.",
    flags: &[],
};

fn main() -> ExitCode {
    EXAMPLE.run(|_, out| demonstrate(out))
}

#[cfg(target_arch = "x86_64")]
fn demonstrate(out: &mut dyn Write) -> Outcome {
    tsc_runtime::tsc::detect()?;
    let _pinned = examples::stay_on_one_cpu();
    step::print(out)?;
    no_operation::print(out)?;
    article::print(out)?;
    rungs::print(out)
}

#[cfg(not(target_arch = "x86_64"))]
fn demonstrate(out: &mut dyn Write) -> Outcome {
    Ok(writeln!(out, "RDTSC is an instruction of x86")?)
}
