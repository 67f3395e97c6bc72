//! The result of a comparison.

use std::fmt;

use crate::calibration::statistics::{median, median_of_sorted};
use tsc_report::__private::{data, named};

/// The probability that all intervals contain their true ratios.
const CONFIDENCE: f64 = 0.95;

named! {
    /// How a candidate compares with the first one.
    #[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
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
        /// Its time divided by the first candidate's. Work that takes less than a core cycle or so counts as a core cycle. `None` for the
        /// first one.
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
        // An empty call takes some 25 core cycles, but up to one more or less in the place of another candidate.
        let least = empty / 25.0;
        let ratio = |a: usize, b: usize| {
            let ratio = |block| net(block, a).max(least) / net(block, b).max(least);
            let ratios = blocks.iter().map(ratio).collect();
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
                relation: relation(ratio),
            }
        };
        let mut rows: Vec<ComparisonRow> = names.into_iter().enumerate().map(row).collect();
        rows[0].relation = Relation::First;
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

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = format!("{:.0} % interval", 100.0 * CONFIDENCE);
        write!(f, "{:<32} {:>12}", self.name, "ticks")?;
        writeln!(f, " {:>8} {interval:>19}", "ratio")?;
        for row in &self.rows {
            let ratio = row.ratio.map(|it| format!("{:.3}", it.median));
            let interval = row
                .ratio
                .map(|it| format!("{:.3} … {:.3}", it.low, it.high));
            let [ratio, interval] = [ratio, interval].map(Option::unwrap_or_default);
            write!(f, "{:<32} {:>12.1}", row.name, row.ticks)?;
            writeln!(f, " {ratio:>8} {interval:>19}  {}", row.relation)?;
        }
        let fastest = self.fastest().unwrap_or("none resolved");
        writeln!(
            f,
            "fastest: {fastest}; {} blocks of {} calls each, in shuffled order; {} interrupted and made again",
            self.blocks, self.calls_per_sample, self.interrupted
        )
    }
}

data! {
    /// A ratio, and the interval that contains the true median with the wanted confidence.
    #[derive(Copy)]
    pub struct Ratio {
        /// The median of the blocks' ratios.
        median: f64,
        /// The lower end of the confidence interval.
        low: f64,
        /// The upper end of the confidence interval.
        high: f64,
    }
}

/// The median of `ratios` and its sign-test interval. The interval lies between two order statistics, chosen so that the true median is
/// outside with a probability of at most `alpha`, whatever the distribution. If there are too few ratios for that, the interval is
/// unbounded.
fn median_ratio(mut ratios: Vec<f64>, alpha: f64) -> Option<Ratio> {
    ratios.retain(|ratio| ratio.is_finite());
    ratios.sort_unstable_by(f64::total_cmp);
    let n = ratios.len();
    let median = median_of_sorted(&ratios)?;
    let (low, high) = match outer_ranks(n, alpha) {
        Some(rank) => (ratios[rank], ratios[n - 1 - rank]),
        None => (0.0, f64::INFINITY),
    };
    Some(Ratio { median, low, high })
}

/// The greatest rank r, from 0, such that the true median is below the r-th or above the (n-1-r)-th of n sorted values with a probability
/// of at most `alpha`: the cumulative binomial distribution, for n and a probability of one half, is at most alpha/2 at r.
fn outer_ranks(n: usize, alpha: f64) -> Option<usize> {
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut cumulative = log_term.exp();
    let mut rank = None;
    for k in 0..n / 2 {
        if cumulative > alpha / 2.0 {
            break;
        }
        rank = Some(k);
        log_term += ((n - k) as f64 / (k + 1) as f64).ln();
        cumulative += log_term.exp();
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The ticks of a sample of empty calls.
    const EMPTY: i64 = 5000;

    fn blocks(candidates: [i64; 3]) -> Vec<Block> {
        (0..101)
            .map(|i| {
                let noise = i * 31 % 17;
                let samples = candidates.map(|ticks| EMPTY + ticks + noise);
                samples.into_iter().chain([EMPTY]).collect()
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
        let comparison = evaluate([-20, 150, 150]);
        assert_eq!(comparison.rows()[1].relation(), Relation::NoDifference);
        // Beside work, it is the fastest.
        let comparison = evaluate([10_000, -8, 10_000]);
        assert_eq!(comparison.rows()[1].relation(), Relation::Faster);
        assert_eq!(comparison.fastest(), Some("b"));
    }

    /// A ratio around one. The numerator and the denominator have a heavy upper tail.
    fn ratio(random: &mut Random) -> f64 {
        let mut part = || {
            let tail = if random.share() < 0.05 {
                random.share()
            } else {
                0.0
            };
            1.0 + 0.01 * random.share() + tail
        };
        part() / part()
    }

    #[test]
    fn ranks_are_those_of_the_sign_test() {
        // From tables of the sign test at 5 %: for n = 10 the interval is from the 2nd to the 9th value, for n = 20 from the 6th to the
        // 15th.
        assert_eq!(outer_ranks(10, 0.05), Some(1));
        assert_eq!(outer_ranks(20, 0.05), Some(5));
        assert_eq!(outer_ranks(5, 0.05), None);
        assert_eq!(outer_ranks(100, 0.05), Some(39));
    }

    #[test]
    fn interval_misses_the_truth_as_rarely_as_it_says() {
        let mut random = Random::new(88_172_645_463_325_252);
        let missed = (0..2000)
            .filter(|_| {
                let ratio =
                    median_ratio((0..101).map(|_| ratio(&mut random)).collect(), 0.05).unwrap();
                ratio.low > 1.0 || ratio.high < 1.0
            })
            .count();
        assert!(missed < 2000 / 15, "{missed} of 2000");
    }

    #[test]
    fn one_percent_is_told_apart() {
        let mut random = Random::new(1234);
        let ratio =
            median_ratio((0..200).map(|_| 1.01 * ratio(&mut random)).collect(), 0.05).unwrap();
        assert!(
            ratio.low > 1.0 && ratio.low < 1.01 && ratio.high > 1.01,
            "{ratio:?}"
        );
    }

    #[test]
    fn few_ratios_bound_nothing() {
        assert_eq!(median_ratio(vec![f64::NAN], 0.05), None);
        assert_eq!(
            median_ratio(vec![1.1, 1.2], 0.05).unwrap().high,
            f64::INFINITY
        );
    }
}
