//! The characters that warn of a row's figures, and what they mean.

use crate::{CallsiteReport, Clock, Report};

/// A row is marked if its probes took more than this share of what it and they took together.
const MOSTLY_PROBES: f64 = 1.0 / 3.0;
/// But not if they took less than this share of the program's time, because then it changes nothing to take them away.
const LEAST_PROBES: f64 = 0.001;
/// A row is marked if its self ticks are known to no better than this share of them.
const UNCERTAIN: f64 = 1.0;

/// The marks, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    BelowResolution,
    MostlyProbes,
    Uncertain,
}

impl Mark {
    pub(super) const ALL: [Self; 3] = [Self::BelowResolution, Self::MostlyProbes, Self::Uncertain];

    /// The gravest mark of a row, in a program of so many self ticks.
    pub(super) fn of(row: &CallsiteReport, clock: &Clock, self_sum: f64) -> Option<Self> {
        let mut marks = Self::ALL.into_iter();
        marks.find(|mark| mark.is_on(row, clock, self_sum))
    }

    fn is_on(self, row: &CallsiteReport, clock: &Clock, self_sum: f64) -> bool {
        match self {
            // By ticks of the clock, what is too short to be timed is mostly probes.
            Self::BelowResolution => row.is_below_resolution() && !row.is_by_ticks(),
            Self::MostlyProbes => {
                row.share_of_probes(clock) > MOSTLY_PROBES
                    && row.cost_of_probes(clock) > LEAST_PROBES * self_sum
            }
            Self::Uncertain => row.self_error_share().is_some_and(|of| of > UNCERTAIN),
        }
    }

    pub(super) fn character(self) -> char {
        match self {
            Self::BelowResolution => '<',
            Self::MostlyProbes => '!',
            Self::Uncertain => '~',
        }
    }

    /// What it means and what to do, which depends on whether the attributes are in the user's own source.
    pub(super) fn explanation(self, own_attributes: bool) -> &'static str {
        match (self, own_attributes) {
            (Self::BelowResolution, true) => "too short to be timed; use #[cycles(light)]",
            (Self::BelowResolution, false) => "too short to be timed",
            (Self::MostlyProbes, true) => {
                "over a third is probes; make a timed one light, leave a light one out with #[cycles(skip)]"
            }
            (Self::MostlyProbes, false) => {
                "over a third is probes; TSC_SKIP=regex leaves functions out"
            }
            (Self::Uncertain, _) => "the error of self is larger than self",
        }
    }
}

impl Report {
    /// The gravest mark of each row, with its explanation for whoever has written the attributes, or has not.
    #[doc(hidden)]
    #[must_use]
    pub fn marks(&self, own_attributes: bool) -> Vec<Option<(char, &'static str)>> {
        let (rows, self_sum) = (self.callsites.iter(), self.self_sum());
        let marks = rows.map(|row| Mark::of(row, &self.clock, self_sum));
        let explained = |mark: Mark| (mark.character(), mark.explanation(own_attributes));
        marks.map(|mark| mark.map(explained)).collect()
    }
}

impl CallsiteReport {
    /// What the function's own probes cost in all, in ticks.
    #[doc(hidden)]
    #[must_use]
    pub fn cost_of_probes(&self, clock: &Clock) -> f64 {
        let timed = || self.cost_of_timed_probes(clock);
        self.probe_ticks.or_else(timed).unwrap_or(0.0)
    }

    /// The same as a share of what the function and its probes took. By ticks of the clock, what was subtracted is added again. Nothing is
    /// known of a light function that no tick has found.
    fn share_of_probes(&self, clock: &Clock) -> f64 {
        let (own, cost) = (self.own(), self.cost_of_probes(clock));
        if self.is_light() && own == 0.0 {
            return 0.0;
        }
        let all = if self.is_by_ticks() {
            own + self.subtracted_ticks()
        } else {
            own + cost
        };
        cost / all.max(cost).max(1.0)
    }

    /// The error of the self ticks, at 95 %, as a share of them.
    #[doc(hidden)]
    #[must_use]
    pub fn self_error_share(&self) -> Option<f64> {
        let (error, own) = (self.self_error_ticks?, self.self_on_cpu().abs());
        (own > 0.0).then(|| error / own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallsiteSums;
    use crate::data::LIGHT;

    #[test]
    fn timed_row_that_is_mostly_probes_says_so_if_they_are_in_its_figures() {
        let mark = |clock_ticks| {
            let mut row = CallsiteReport {
                mean_ticks: Some(2.0),
                self_on_cpu_ticks: Some(60.0),
                probe_ticks: Some(30.0),
                samples: 1,
                ..CallsiteReport::default()
            };
            (row.sums.clock_ticks, row.sums.ticked_own) = (clock_ticks, 75);
            Mark::of(&row, &Clock::default(), 60.0)
        };
        assert_eq!(mark(0), Some(Mark::BelowResolution));
        assert_eq!(mark(1), Some(Mark::MostlyProbes));
    }

    #[test]
    fn light_row_is_mostly_probes_only_if_a_tick_has_found_it() {
        let row = |own| CallsiteReport {
            probe: LIGHT.to_owned(),
            self_on_cpu_ticks: Some(own),
            probe_ticks: Some(30.0),
            sums: CallsiteSums {
                ticked_own: own as i64,
                ..CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        let mark = |own| Mark::of(&row(own), &Clock::default(), own);
        let in_a_long_program = Mark::of(&row(60.0), &Clock::default(), 1e6);
        assert_eq!(in_a_long_program, None);
        assert_eq!(mark(0.0), None);
        assert_eq!(mark(60.0), Some(Mark::MostlyProbes));
        assert_eq!(mark(600.0), None);
    }
}
