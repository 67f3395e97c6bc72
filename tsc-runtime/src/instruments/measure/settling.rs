//! The lines that show how a run settles.

use super::constancy::agrees;
use super::verdict::Verdict;
use crate::data::data;
use crate::named::named;
use crate::tsc::Ticks;

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
    #[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
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
    let cold = first.iter().take_while(is_cold).enumerate();
    let mut steps: Vec<Step> = cold
        .map(|(i, &ticks)| Step {
            ticks,
            note: match i.checked_sub(1).map(|before| first[before]) {
                None => Some(Note::CacheWarmUp),
                Some(before) if ticks > 1.5 * before && !agrees(ticks, before, step) => {
                    Some(Note::Disturbed)
                }
                Some(_) => None,
            },
        })
        .collect();
    steps.push(Step {
        ticks: constant,
        note: Some(match verdict {
            Verdict::Constant { .. } => Note::Constant,
            Verdict::Unsettled { .. } => Note::Unsettled,
        }),
    });
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
