//! When single calls are constant, and to what: one rule for every instrument and example; and the lines that show how a run settles.

use super::verdict::Verdict;
use crate::calibration::resolution;
use crate::instruments::bench::distribution::{Distribution, centre_of_run};
use crate::tsc::Ticks;
use tsc_report::__private::{data, named};

data! {
    /// The value on which single calls agree, from some call on.
    #[derive(Copy)]
    pub struct Constant {
        /// The index of the first call from which on the calls agree.
        begin: usize,
        /// The mean of the calls that agree.
        ticks: f64,
        /// The standard error of the mean. It is at least the one that the counter's step causes.
        plus_minus: f64,
        /// The number of calls that agree.
        calls: usize,
    }
}

/// The smallest number of calls in a row that make a constant. The article "Performance measurements with RDTSC" (strchr.com) says to
/// repeat a measurement at least this often.
const IN_A_ROW: usize = 5;
/// The smallest share of the later calls that agree. The others were disturbed.
const SHARE: f64 = 0.9;
/// Calls agree if they differ by no more than this share.
const SAME: f64 = 0.01;

/// The constant to which single calls settle, if they do.
///
/// A call agrees with the constant if it differs from it by at most 1 %, or by at most one step of the counter: two readings of the same
/// duration differ by no more than that, and if the step is longer than the work, they must. The constant begins with the first of five
/// calls in a row that agree with the median of the second half of the calls, if nine of ten calls from there on agree. Its value is their
/// mean, which is more exact than a step.
///
/// ```
/// use tsc_runtime::measure::constant;
///
/// // The run of strlen in the article "Performance measurements with RDTSC".
/// let article = [1489.0, 1041.0, 1041.0, 1034.0, 1013.0, 1019.0, 1019.0, 1019.0, 1019.0, 1019.0, 1019.0];
/// if let Some(constant) = constant(&article) {
///     println!("constant from call {} on: {:.0} ± {:.1}", constant.begin() + 1, constant.ticks(), constant.plus_minus());
/// }
/// ```
#[must_use]
pub fn constant(ticks: &[f64]) -> Option<Constant> {
    constant_in_steps(ticks, resolution::ticks())
}

fn constant_in_steps(ticks: &[f64], step: Ticks) -> Option<Constant> {
    let settled = Distribution::new(&ticks[ticks.len() / 2..]).median();
    let agree = |call: &f64| agrees(*call, settled, step);
    let mut in_a_row = ticks.windows(IN_A_ROW);
    let begin = in_a_row.position(|calls| calls.iter().all(agree))?;
    let same: Vec<f64> = ticks[begin..].iter().copied().filter(agree).collect();
    if (same.len() as f64) < SHARE * (ticks.len() - begin) as f64 {
        return None;
    }
    let centre = centre_of_run(&same, f64::INFINITY);
    // Readings of the same duration are one of two steps. Their deviation is greatest if both are as frequent.
    let of_the_step = step as f64 / 2.0 / (same.len() as f64).sqrt();
    Some(Constant {
        begin,
        ticks: centre.mean,
        plus_minus: centre.std_error.max(of_the_step),
        calls: same.len(),
    })
}

/// Whether a call agrees with the constant. A step that is taken in two parts makes a tick's difference.
fn agrees(ticks: f64, constant: f64, step: Ticks) -> bool {
    (ticks - constant).abs() <= (SAME * constant.abs()).max(step as f64 + 1.0)
}

data! {
    /// One line: a call, or the constant value, which is a mean of many.
    pub struct Step {
        /// The ticks of the call, or the mean of all samples.
        ticks: f64,
        /// A note on the line, if there is one.
        note: Option<Note>,
    }
}

named! {
    /// A note on a line.
    #[cfg_attr(feature = "json", derive(serde::Serialize), serde(rename_all = "snake_case"))]
    #[non_exhaustive]
    pub enum Note {
        /// The first call: the caches are cold, and the branch predictor has not seen the branches.
        CacheWarmUp = "cache warm-up",
        /// The call took over one and a half times as long as the previous one, and longer by more than a step of the counter: something
        /// disturbed it.
        Disturbed = "disturbed",
        /// The work is constant from here on.
        Constant = "constant performance is reached",
        /// The run ended before the work was constant.
        Unsettled = "not constant",
    }
}

/// The first calls until one [agrees] with the constant value, and then the constant value.
pub(super) fn settling(first: &[f64], constant: f64, step: Ticks, verdict: &Verdict) -> Vec<Step> {
    let is_cold = |ticks: &&f64| !agrees(**ticks, constant, step);
    let is_disturbed = |before: f64, it: f64| it > 1.5 * before && !agrees(it, before, step);
    let note = |i: usize| match i {
        0 => Some(Note::CacheWarmUp),
        _ => is_disturbed(first[i - 1], first[i]).then_some(Note::Disturbed),
    };
    let end = match verdict {
        Verdict::Constant { .. } => Note::Constant,
        Verdict::Unsettled { .. } => Note::Unsettled,
    };
    let line = |ticks, note| Step { ticks, note };
    let cold = first.iter().take_while(is_cold).enumerate();
    let cold = cold.map(|(i, &ticks)| line(ticks, note(i)));
    cold.chain([line(constant, Some(end))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruments::bench::script::Scripted;
    use crate::measure::UnsettledReason;

    #[test]
    fn settling_ends_with_the_constant() {
        let constant = Verdict::Constant { share: 1.0 };
        let steps = settling(
            &[1489.0, 1210.0, 9000.0, 1021.0, 1500.0],
            1019.0,
            2,
            &constant,
        );
        let lines: Vec<_> = steps
            .iter()
            .map(|step| (step.ticks(), step.note()))
            .collect();
        assert_eq!(
            lines,
            [
                (1489.0, Some(Note::CacheWarmUp)),
                (1210.0, None),
                (9000.0, Some(Note::Disturbed)),
                (1019.0, Some(Note::Constant))
            ]
        );
    }
    #[test]
    fn one_step_is_no_disturbance() {
        let unsettled = Verdict::Unsettled {
            why: UnsettledReason::Limit {
                reached: 1.0,
                wanted: 0.01,
            },
        };
        let steps = settling(&[156.0, 104.0, 78.0, 104.0, 26.0], 34.0, 26, &unsettled);
        let notes: Vec<_> = steps.iter().map(Step::note).collect();
        assert_eq!(
            notes,
            [
                Some(Note::CacheWarmUp),
                None,
                None,
                None,
                Some(Note::Unsettled)
            ]
        );
    }

    /// The run in the article.
    const ARTICLE: [f64; 11] = [
        1489.0, 1041.0, 1041.0, 1034.0, 1013.0, 1019.0, 1019.0, 1019.0, 1019.0, 1019.0, 1019.0,
    ];

    fn begin(ticks: &[f64]) -> Option<usize> {
        constant_in_steps(ticks, 1).map(|constant| constant.begin())
    }

    #[test]
    fn article_is_constant_where_it_says() {
        let constant = constant_in_steps(&ARTICLE, 1).unwrap();
        // The article marks the sixth call. The fifth agrees with it to within 1 %.
        assert_eq!((constant.begin(), constant.calls()), (4, 7));
        assert!((constant.ticks() - 1019.0).abs() < 1.0);
    }

    #[test]
    fn constant_begins_with_five_calls_in_a_row() {
        assert_eq!(begin(&[300.0, 100.0, 101.0, 100.0, 100.0, 100.0]), Some(1));
        assert_eq!(begin(&[300.0, 200.0, 100.0, 100.0, 100.0, 100.0]), None);
        assert_eq!(begin(&[100.0, 200.0, 300.0, 400.0, 500.0, 600.0]), None);
        assert_eq!(begin(&[]), None);
        let mut disturbed = [100.0; 40];
        disturbed[20] = 9000.0;
        assert_eq!(begin(&disturbed), Some(0));
    }

    #[test]
    fn value_below_the_step_is_the_same_in_every_run() {
        for seed in 1..100 {
            for mut counter in Scripted::each(seed) {
                let cycles = 34.0 * counter.cycles_per_tick;
                let calls: Vec<f64> = (0..1000).map(|_| counter.ticks(cycles) as f64).collect();
                let constant = constant_in_steps(&calls, counter.step()).unwrap();
                assert_eq!((constant.begin(), constant.calls()), (0, 1000));
                let off = (constant.ticks() - 34.0).abs();
                assert!(off < 4.5 * constant.plus_minus(), "{constant:?}");
                assert!(constant.plus_minus() > 0.0 && constant.plus_minus() < 1.5);
            }
        }
    }

    #[test]
    fn what_differs_by_more_than_a_step_is_not_constant() {
        let loud: Vec<f64> = (0..100).map(|i| f64::from(40 + 70 * (i % 3))).collect();
        assert_eq!(constant_in_steps(&loud, 26), None);
    }
}
