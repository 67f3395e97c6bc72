//! The cost of an empty pair of reads for each fence policy, before and after the correction.

use std::io::Write;

use examples::command::Outcome;
use tsc_runtime::tsc::{
    Cpuid, CpuidStart, FencePolicy, Lfence, Mfence, Rdtscp, Serialize, Unfenced, elapsed,
};

/// The number of empty pairs of reads. Half of them are the calibration, by which the other half are corrected.
const PAIRS: usize = 2000;

/// Prints the ticks of each policy's pairs, before and after the correction.
pub(crate) fn print(out: &mut dyn Write) -> Outcome {
    writeln!(
        out,
        "No operation: {PAIRS} empty pairs of reads with each fence policy, in ticks. The median of the first half of the pairs is\n\
         subtracted from those of the second half:\n"
    )?;
    writeln!(
        out,
        "{:<12} {:^17}   {:^10}   {:^35}",
        "", "before correction", "", "after correction"
    )?;
    writeln!(
        out,
        "{:<12} {:>8} {:>8}   {:>10}   {:>8} {:>8} {:>8} {:>8}",
        "fence", "least", "median", "subtracted", "least", "median", "p99", "spread"
    )?;
    print_row::<Unfenced>(out)?;
    print_row::<Lfence>(out)?;
    print_row::<Rdtscp>(out)?;
    print_row::<Mfence>(out)?;
    print_row::<Serialize>(out)?;
    print_row::<CpuidStart>(out)?;
    print_row::<Cpuid>(out)?;
    writeln!(out, "spread: from the least to the 99th percentile\n")?;
    Ok(())
}

fn print_row<P: FencePolicy>(out: &mut dyn Write) -> Outcome {
    // The first pair executes cold code.
    pair::<P>();
    let raw: Vec<f64> = (0..PAIRS).map(|_| pair::<P>()).collect();
    let [calibration, corrected] = [&raw[..PAIRS / 2], &raw[PAIRS / 2..]].map(sorted);
    let [overhead, median] = [&calibration, &corrected].map(|ticks| ticks[ticks.len() / 2]);
    let (least, p99) = (corrected[0], corrected[corrected.len() * 99 / 100]);
    writeln!(
        out,
        "{:<12} {least:>8.0} {median:>8.0}   {overhead:>10.0}   {:>8.0} {:>8.0} {:>8.0} {:>8.0}{}",
        P::FENCE.name(),
        least - overhead,
        median - overhead,
        p99 - overhead,
        p99 - least,
        if P::FENCE.is_supported() {
            ""
        } else {
            "   not on this CPU: lfence instead"
        },
    )?;
    Ok(())
}

fn pair<P: FencePolicy>() -> f64 {
    let start = P::start();
    elapsed(start, P::stop()) as f64
}

fn sorted(ticks: &[f64]) -> Vec<f64> {
    let mut sorted = ticks.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
