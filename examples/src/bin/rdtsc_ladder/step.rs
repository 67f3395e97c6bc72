//! The differences between readings in a row, which show the steps of the counter.

use std::io::Write;

use examples::command::Outcome;
use tsc_runtime::resolution;
use tsc_runtime::tsc::{FencePolicy, Unfenced, elapsed};

const READS: usize = 20_000;
/// The number of differences that are printed, the most frequent ones.
const SHOWN: usize = 6;

/// Prints the distribution of the differences.
pub(crate) fn print(out: &mut dyn Write) -> Outcome {
    let reads: Vec<u64> = (0..READS).map(|_| Unfenced::start()).collect();
    let differences: Vec<i64> = reads
        .windows(2)
        .map(|pair| elapsed(pair[0], pair[1]))
        .collect();
    writeln!(
        out,
        "The counter's step is {} ticks. Differences between {READS} readings in a row, without fences:\n",
        resolution()
    )?;
    for (ticks, share) in by_frequency(differences).into_iter().take(SHOWN) {
        writeln!(out, "{ticks:>8} ticks {:>6.1} %", 100.0 * share)?;
    }
    writeln!(out)?;
    Ok(())
}

/// The values with their shares, the most frequent first.
fn by_frequency(mut values: Vec<i64>) -> Vec<(i64, f64)> {
    values.sort_unstable();
    let all = values.len() as f64;
    let mut shares: Vec<(i64, f64)> = values
        .chunk_by(|a, b| a == b)
        .map(|equal| (equal[0], equal.len() as f64 / all))
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_frequent_difference_is_the_first() {
        let differences = vec![26, 1, 26, 52, 26, 25, 26, 1];
        let shares = by_frequency(differences);
        assert_eq!(shares[..2], [(26, 0.5), (1, 0.25)]);
        assert_eq!(by_frequency(vec![]), []);
    }
}
