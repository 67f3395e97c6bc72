//! What makes a row's figures less than they look, in one character.

use crate::report::{CallsiteReport, Clock};

/// The share of raw ticks that the probes may be, before the row is marked.
pub(super) const PERTURBED: f64 = 0.5;

/// A median of fewer steps of the counter than this is known to ± 1 step only; the mean of many calls is known better.
const COARSE_STEPS: f64 = 20.0;

/// From the gravest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    BelowResolution,
    Perturbed,
    Coarse,
}

impl Mark {
    pub(super) const ALL: [Self; 3] = [Self::BelowResolution, Self::Perturbed, Self::Coarse];

    /// The gravest of a row.
    pub(super) fn of(row: &CallsiteReport, clock: &Clock) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.is_on(row, clock))
    }

    pub(super) fn is_on(self, row: &CallsiteReport, clock: &Clock) -> bool {
        match self {
            Self::BelowResolution => row.is_below_resolution(),
            Self::Perturbed => row.perturbation > PERTURBED,
            Self::Coarse => !row.is_below_resolution() && is_coarse(row, clock),
        }
    }

    pub(super) fn character(self) -> char {
        match self {
            Self::BelowResolution => '<',
            Self::Perturbed => '!',
            Self::Coarse => '~',
        }
    }

    /// What it means and what to do, in a line that fits every terminal.
    pub(super) fn explanation(self, clock: &Clock) -> String {
        match self {
            Self::BelowResolution => {
                "mean under 30 ticks: indistinguishable from an empty call; use measure()"
                    .to_owned()
            }
            Self::Perturbed => {
                "over half of its raw ticks are probes; annotate fewer of its callees".to_owned()
            }
            Self::Coarse => format!(
                "min and quantiles ± 1 step of the counter ({} ticks); the mean as ± says",
                clock.resolution_ticks
            ),
        }
    }
}

fn is_coarse(row: &CallsiteReport, clock: &Clock) -> bool {
    let step = clock.resolution_ticks as f64;
    step > 1.0
        && row
            .p50_ticks
            .is_some_and(|median| median < COARSE_STEPS * step)
}
