//! Guards the hot path: counts, under callgrind, the instructions per annotated call and per callsite of a report.
//!
//! `cargo run --release --manifest-path tests/instructions/Cargo.toml` compares the numbers with `blessed.txt`, and fails if one exceeds
//! it by more than its margin. With `-- --bless` it writes that file. Unlike times, the numbers hardly differ from run to run, even on a
//! busy machine: where they depend on the ticks of a call, the ticks are simulated, and what depends on time is left out.

mod blessed;
mod callgrind;
mod parts;
mod rseq;
mod scripted;
mod workload;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--part", part] => {
            workload::run(part);
            return ExitCode::SUCCESS;
        }
        [] => parts::measure().and_then(|figures| blessed::compare(&figures)),
        ["--bless"] => parts::measure().and_then(|figures| blessed::write(&figures)),
        _ => Err("the only option is --bless".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("instructions: {message}");
            ExitCode::FAILURE
        }
    }
}
