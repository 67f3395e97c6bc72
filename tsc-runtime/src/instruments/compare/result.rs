//! The result of a comparison.

use super::builder::Block;
use super::statistics::{Ratio, median_ratio};
use crate::calibration::statistics::median;

/// How a candidate compares with the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Relation {
    /// It is the first one.
    First,
    /// It takes less time, with the wanted confidence.
    Faster,
    /// It takes more time, with the wanted confidence.
    Slower,
    /// The interval overlaps 1 ± [`least_effect`](super::Compare::least_effect): no difference is resolved.
    NoDifference,
}

/// One candidate's result.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct ComparisonRow {
    pub(super) name: String,
    pub(super) ticks: f64,
    pub(super) ratio: Option<Ratio>,
    pub(super) relation: Relation,
}

impl ComparisonRow {
    /// The candidate's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The median of its net ticks per call.
    #[must_use]
    pub fn ticks(&self) -> f64 {
        self.ticks
    }

    /// Its time divided by the first candidate's. `None` for the first one, and for work that is too short for a ratio.
    #[must_use]
    pub fn ratio(&self) -> Option<Ratio> {
        self.ratio
    }

    /// How it compares with the first one.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct Comparison {
    pub(super) name: String,
    pub(super) rows: Vec<ComparisonRow>,
    pub(super) fastest: Option<String>,
    pub(super) blocks: usize,
    pub(super) interrupted: usize,
    pub(super) calls_per_sample: usize,
    pub(super) confidence: f64,
}

impl Comparison {
    /// The name of the comparison.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The candidates in the order they were added.
    #[must_use]
    pub fn rows(&self) -> &[ComparisonRow] {
        &self.rows
    }

    /// The candidate that takes less time than every other one, if there is one.
    #[must_use]
    pub fn fastest(&self) -> Option<&str> {
        self.fastest.as_deref()
    }

    /// The number of blocks that the result is computed from.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The number of blocks that were discarded because the thread was interrupted.
    #[must_use]
    pub fn interrupted(&self) -> usize {
        self.interrupted
    }

    /// The number of calls of each candidate in a block.
    #[must_use]
    pub fn calls_per_sample(&self) -> usize {
        self.calls_per_sample
    }

    /// The probability that all intervals contain their true ratios.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }
}

/// Evaluates the blocks. `alpha` is one minus the confidence. It is divided among all pairs of candidates, because each pair may be
/// reported as different.
pub(super) fn compare(
    name: String,
    names: Vec<String>,
    blocks: &[Block],
    calls: usize,
    interrupted: usize,
    alpha: f64,
    least_effect: f64,
) -> Comparison {
    let empty = median_of(blocks, |block| block.nothing as f64);
    let net = |block: &Block, index: usize| block.candidates[index] as f64 - empty;
    let pairs = (names.len() * (names.len() - 1) / 2).max(1);
    let ratio = |a: usize, b: usize| {
        let ratios = blocks
            .iter()
            .map(|block| net(block, a) / net(block, b))
            .filter(|ratio| *ratio > 0.0)
            .collect();
        median_ratio(ratios, alpha / pairs as f64)
    };
    let relation = |ratio: Option<Ratio>| match ratio {
        Some(ratio) if ratio.high < 1.0 - least_effect => Relation::Faster,
        Some(ratio) if ratio.low > 1.0 + least_effect => Relation::Slower,
        _ => Relation::NoDifference,
    };
    let ticks: Vec<f64> = (0..names.len())
        .map(|index| median_of(blocks, |block| net(block, index)) / calls as f64)
        .collect();
    let best = (0..names.len())
        .min_by(|a, b| ticks[*a].total_cmp(&ticks[*b]))
        .unwrap_or(0);
    let is_fastest = (0..names.len())
        .all(|other| other == best || relation(ratio(best, other)) == Relation::Faster);
    let fastest = is_fastest.then(|| names[best].clone());
    let rows = names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            let ratio = if index == 0 { None } else { ratio(index, 0) };
            let relation = if index == 0 {
                Relation::First
            } else {
                relation(ratio)
            };
            ComparisonRow {
                name,
                ticks: ticks[index],
                ratio,
                relation,
            }
        })
        .collect();
    Comparison {
        name,
        rows,
        fastest,
        blocks: blocks.len(),
        interrupted,
        calls_per_sample: calls,
        confidence: 1.0 - alpha,
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
                Block {
                    nothing: 100,
                    candidates: candidates.map(|ticks| 100 + ticks + noise).to_vec(),
                }
            })
            .collect()
    }

    fn evaluate(candidates: [i64; 3]) -> Comparison {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        compare(
            "test".to_owned(),
            names,
            &blocks(candidates),
            10,
            0,
            0.05,
            0.001,
        )
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
