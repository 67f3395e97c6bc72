//! Compares what the report says about its figures with what the kernel and another clock say: `cargo run --release --manifest-path
//! studies/overhead/Cargo.toml --bin trust`, or with `-- on-cpu` for the second table alone.
//!
//! It prints two Markdown tables: one about interruptions and rates, and one about interrupted calls. Every row gives its target. If a row
//! misses it, the row says so, but the program does not fail, because other programs may use the machine.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calibration;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod chains;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod contention;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod detector;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod events;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod on_cpu;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod rate;

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use overhead::table::heading;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() -> ExitCode {
    eprintln!("trust: interruptions are detected on x86-64 Linux only");
    ExitCode::FAILURE
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> ExitCode {
    if cfg!(debug_assertions) {
        eprintln!("trust: build it with --release; figures of a debug build mean nothing");
        return ExitCode::FAILURE;
    }
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some(calibration::ONE) {
        calibration::print_one();
        return ExitCode::SUCCESS;
    }
    let cpus = tsc_runtime::affinity::cpus().unwrap_or_default();
    let Some(&cpu) = cpus.last() else {
        eprintln!("trust: the CPUs of this process cannot be determined");
        return ExitCode::FAILURE;
    };
    let columns = ["what", "must be", "measured", "met"];
    if argument.as_deref() != Some("on-cpu") {
        heading("Trust", &columns);
        contention::run(cpu);
        events::run(&cpus);
        chains::run(cpu);
        rate::run();
        if let Err(why) = calibration::run() {
            eprintln!("trust: the calibrations could not be compared: {why}");
            return ExitCode::FAILURE;
        }
        if let Err(why) = detector::run() {
            eprintln!("trust: the detector's cost could not be measured: {why}");
            return ExitCode::FAILURE;
        }
    }
    heading("On the CPU, blocked, waiting", &columns);
    if let Err(why) = on_cpu::run(cpu) {
        eprintln!("trust: {why}");
        return ExitCode::FAILURE;
    }
    // The table above has all figures, so do not print a dump.
    tsc_runtime::reset();
    ExitCode::SUCCESS
}
