//! The character at the end of a row whose figures are less certain than they look.

use crate::{CallsiteReport, Clock, Report};

/// A row is marked if the probes are more than this share of its raw ticks.
pub(super) const PERTURBED: f64 = 0.5;

/// The same for the row of a light function, and the light probes' share of its self ticks.
const MOSTLY_PROBES: f64 = 1.0 / 3.0;

/// A row is marked if its median is fewer steps of the counter than this: ± 1 step then is over 5 % of it.
const COARSE_STEPS: f64 = 20.0;

/// The marks, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    BelowResolution,
    Perturbed,
    MostlyProbes,
    Coarse,
}

impl Mark {
    pub(super) const ALL: [Self; 4] = [
        Self::BelowResolution,
        Self::Perturbed,
        Self::MostlyProbes,
        Self::Coarse,
    ];

    /// The gravest mark of a row.
    pub(super) fn of(row: &CallsiteReport, clock: &Clock) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.is_on(row, clock))
    }

    pub(super) fn is_on(self, row: &CallsiteReport, clock: &Clock) -> bool {
        match self {
            Self::BelowResolution => row.is_below_resolution(),
            Self::Perturbed => !row.is_light() && row.perturbation > PERTURBED,
            Self::MostlyProbes => row.is_light() && row.perturbation > MOSTLY_PROBES,
            Self::Coarse => !row.is_below_resolution() && is_coarse(row, clock),
        }
    }

    pub(super) fn character(self) -> char {
        match self {
            Self::BelowResolution => '<',
            Self::Perturbed | Self::MostlyProbes => '!',
            Self::Coarse => '~',
        }
    }

    /// What the mark means and what to do, in a line that fits every terminal.
    pub(super) fn explanation(self, clock: &Clock) -> String {
        match self {
            Self::BelowResolution => {
                "mean under 30 ticks, like an empty call; use a light probe or measure()".to_owned()
            }
            Self::Perturbed => {
                "over half of the raw ticks are probes; annotate fewer of its callees".to_owned()
            }
            Self::MostlyProbes => {
                "over a third of the self ticks are light probes; leave the attribute out"
                    .to_owned()
            }
            Self::Coarse => format!(
                "min and quantiles are known to ± 1 step of the counter ({} ticks)",
                clock.resolution_ticks
            ),
        }
    }
}

impl Report {
    /// The gravest mark of each row, with its explanation.
    #[doc(hidden)]
    #[must_use]
    pub fn marks(&self) -> Vec<Option<(char, String)>> {
        let mark = |row| Mark::of(row, &self.clock);
        let explained = |mark: Mark| (mark.character(), mark.explanation(&self.clock));
        let rows = self.callsites.iter();
        rows.map(|row| mark(row).map(explained)).collect()
    }
}

fn is_coarse(row: &CallsiteReport, clock: &Clock) -> bool {
    let step = clock.resolution_ticks as f64;
    step > 1.0
        && row
            .p50_ticks
            .is_some_and(|median| median < COARSE_STEPS * step)
}
