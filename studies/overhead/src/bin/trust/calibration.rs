//! Compares the calibrations of processes that start one after the other. What the machine itself does to them is shown by the time of the
//! bare pair of fenced reads, which each process measures right after its calibration.

use std::io;
use std::process::Command;

use tsc_runtime::tsc::{FencePolicy, Lfence};
use tsc_runtime::{cycles, snapshot};

use overhead::table::median;
use overhead::target;

/// The argument of a process that prints its own figures.
pub(crate) const ONE: &str = "one-calibration";

const PAIRS: usize = 20;
const MET: usize = 19;
/// Of the larger figure.
const MOST: f64 = 0.02;

/// The bare pair's time is the median of these rounds.
const ROUNDS: usize = 100;
const READS: u32 = 200;

#[cycles]
fn empty() {}

/// Prints the visible and the total cost of a probe, and that of the bare pair of reads.
pub(crate) fn print_one() {
    empty();
    let report = snapshot();
    let probe = &report.clock().overheads()[0];
    let pair = (0..ROUNDS).map(|_| {
        let start = Lfence::start();
        for _ in 0..READS {
            std::hint::black_box((Lfence::start(), Lfence::stop()));
        }
        (Lfence::stop() - start) as f64 / f64::from(READS)
    });
    println!(
        "{} {} {}",
        probe.visible_ticks(),
        probe.total_ticks(),
        median(pair.collect())
    );
}

pub(crate) fn run() -> io::Result<()> {
    let mut probes = 0;
    let mut bare = 0;
    for _ in 0..PAIRS {
        let (one, other) = (figures()?, figures()?);
        let is_close = |index: usize| {
            let (one, other) = (one[index], other[index]);
            (one - other).abs() <= MOST * one.max(other)
        };
        probes += usize::from(is_close(0) && is_close(1));
        bare += usize::from(is_close(2));
    }
    target::print(
        "two processes, one after the other: visible and total cost of a probe within 2 %",
        "19 of 20",
        format!("{probes} of {PAIRS}; the bare pair of reads: {bare} of {PAIRS}"),
        probes >= MET,
    );
    Ok(())
}

/// What another process prints.
fn figures() -> io::Result<[f64; 3]> {
    let output = Command::new(std::env::current_exe()?)
        .arg(ONE)
        .env("TSC_REPORT", "off")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    figures
        .ok()
        .and_then(|figures| figures.try_into().ok())
        .ok_or_else(|| io::Error::other(format!("not three figures: {text:?}")))
}
