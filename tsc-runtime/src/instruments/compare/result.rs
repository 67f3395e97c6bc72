//! The result of a comparison.

use super::statistics::{Ratio, median_ratio};
use crate::calibration::statistics::median;
use crate::data::data;
use crate::named::named;

/// The probability that all intervals contain their true ratios.
pub(super) const CONFIDENCE: f64 = 0.95;

named! {
    /// How a candidate compares with the first one.
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    #[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum Relation {
        /// It is the first one.
        First = "-",
        /// It takes less time, with the wanted confidence.
        Faster = "faster",
        /// It takes more time, with the wanted confidence.
        Slower = "slower",
        /// The interval overlaps 1 ± [`least_effect`](super::Compare::least_effect): no difference is resolved.
        NoDifference = "no difference resolved",
    }
}

data! {
    /// One candidate's result.
    pub struct ComparisonRow {
        /// The candidate's name.
        name: String => &str,
        /// The median of its net ticks per call.
        ticks: f64,
        /// Its time divided by the first candidate's. `None` for the first one, and for work that is too short for a ratio.
        ratio: Option<Ratio>,
        /// How it compares with the first one.
        relation: Relation,
    }
}

data! {
    /// The result of a comparison.
    pub struct Comparison {
        /// The name of the comparison.
        name: String => &str,
        /// The candidates in the order they were added.
        rows: Vec<ComparisonRow> => &[ComparisonRow],
        /// The candidate that takes less time than every other one, if there is one.
        fastest: Option<String> => Option<&str> = as_deref(),
        /// The number of blocks that the result is computed from.
        blocks: usize,
        /// The number of blocks that were discarded because the thread was interrupted.
        interrupted: usize,
        /// The number of calls of each candidate in a block.
        calls_per_sample: usize,
    }
}

/// The ticks of one sample of each candidate, and of the empty candidate, which is the last.
pub(super) type Block = Vec<i64>;

impl Comparison {
    /// Evaluates blocks in which each candidate has so many calls. One minus [`CONFIDENCE`] is divided among all pairs of candidates, because
    /// each pair may be reported as different.
    pub(super) fn of(
        names: Vec<String>,
        blocks: &[Block],
        calls: usize,
        least_effect: f64,
    ) -> Self {
        let count = names.len();
        let empty = median_of(blocks, |block| block[count] as f64);
        let net = |block: &Block, index: usize| block[index] as f64 - empty;
        let pairs = (count * (count - 1) / 2).max(1);
        let ratio = |a: usize, b: usize| {
            let ratios = blocks.iter().map(|block| net(block, a) / net(block, b));
            let ratios = ratios.filter(|ratio| *ratio > 0.0).collect();
            median_ratio(ratios, (1.0 - CONFIDENCE) / pairs as f64)
        };
        let relation = |ratio: Option<Ratio>| match ratio {
            Some(ratio) if ratio.high < 1.0 - least_effect => Relation::Faster,
            Some(ratio) if ratio.low > 1.0 + least_effect => Relation::Slower,
            _ => Relation::NoDifference,
        };
        let row = |(index, name)| {
            let ratio = (index != 0).then(|| ratio(index, 0)).flatten();
            ComparisonRow {
                name,
                ticks: median_of(blocks, |block| net(block, index)) / calls as f64,
                ratio,
                relation: match index {
                    0 => Relation::First,
                    _ => relation(ratio),
                },
            }
        };
        let rows: Vec<ComparisonRow> = names.into_iter().enumerate().map(row).collect();
        let by_ticks = |a: &usize, b: &usize| rows[*a].ticks.total_cmp(&rows[*b].ticks);
        let best = (0..count).min_by(by_ticks).unwrap_or(0);
        let is_slower = |other| relation(ratio(best, other)) == Relation::Faster;
        let is_fastest = (0..count).all(|other| other == best || is_slower(other));
        Self {
            name: String::new(),
            fastest: is_fastest.then(|| rows[best].name.clone()),
            rows,
            blocks: blocks.len(),
            interrupted: 0,
            calls_per_sample: calls,
        }
    }
}

/// NaN if there are no blocks.
fn median_of(blocks: &[Block], ticks: impl Fn(&Block) -> f64) -> f64 {
    median(blocks.iter().map(ticks).collect()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(candidates: [i64; 3]) -> Vec<Block> {
        (0..101)
            .map(|i| {
                let noise = i * 31 % 17;
                let samples = candidates.map(|ticks| 100 + ticks + noise);
                samples.into_iter().chain([100]).collect()
            })
            .collect()
    }

    fn evaluate(candidates: [i64; 3]) -> Comparison {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        Comparison::of(names, &blocks(candidates), 10, 0.001)
    }

    #[test]
    fn faster_and_slower_are_told() {
        let comparison = evaluate([10_000, 9_800, 10_300]);
        let relations: Vec<_> = comparison
            .rows()
            .iter()
            .map(ComparisonRow::relation)
            .collect();
        assert_eq!(
            relations,
            [Relation::First, Relation::Faster, Relation::Slower]
        );
        assert_eq!(comparison.fastest(), Some("b"));
        assert!((comparison.rows()[1].ticks() - 980.8).abs() < 1.0);
    }

    #[test]
    fn same_is_no_difference() {
        let comparison = evaluate([10_000, 10_000, 20_000]);
        assert_eq!(comparison.rows()[1].relation(), Relation::NoDifference);
        assert_eq!(comparison.fastest(), None);
    }

    #[test]
    fn work_of_nothing_has_no_ratio_to_speak_of() {
        let comparison = evaluate([-8, -8, -8]);
        assert_eq!(comparison.rows()[1].relation(), Relation::NoDifference);
    }
}
