//! The lines that show a run as it settles.

use super::verdict::Verdict;

/// A line of the run as it settled.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
pub struct Step {
    pub(super) ticks: f64,
    pub(super) note: Option<Note>,
}

impl Step {
    /// Ticks of a call.
    #[must_use]
    pub fn ticks(&self) -> f64 {
        self.ticks
    }

    /// What there is to say of it.
    #[must_use]
    pub fn note(&self) -> Option<Note> {
        self.note
    }
}

/// What a line of the settling run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[cfg_attr(feature = "json", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Note {
    /// The first call: nothing is in the caches and no branch was ever seen.
    CacheWarmUp,
    /// It took half as long again as the call before it: something came in between.
    Disturbed,
    /// From here on the work is constant.
    Constant,
    /// The run ended without.
    Unsettled,
}

/// The first calls until one is within 3 % of the constant, or 3 ticks, and then the constant.
pub(super) fn settling(first: &[f64], constant: f64, verdict: &Verdict) -> Vec<Step> {
    let tolerance = (0.03 * constant.abs()).max(3.0);
    let cold = first
        .iter()
        .take_while(|ticks| (*ticks - constant).abs() > tolerance);
    let mut steps: Vec<Step> = cold
        .map(|ticks| Step {
            ticks: *ticks,
            note: None,
        })
        .collect();
    for i in 1..steps.len() {
        if steps[i].ticks > 1.5 * steps[i - 1].ticks {
            steps[i].note = Some(Note::Disturbed);
        }
    }
    if let Some(step) = steps.first_mut() {
        step.note = Some(Note::CacheWarmUp);
    }
    let note = if matches!(verdict, Verdict::Constant { .. }) {
        Note::Constant
    } else {
        Note::Unsettled
    };
    steps.push(Step {
        ticks: constant,
        note: Some(note),
    });
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settling_ends_with_the_constant() {
        let constant = Verdict::Constant {
            ticks: 1019.0,
            core_cycles: None,
            plus_minus: 0.1,
            share: 1.0,
            samples: 100,
        };
        let steps = settling(&[1489.0, 1210.0, 9000.0, 1021.0, 1500.0], 1019.0, &constant);
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
}
