//! Which runs are compared with which: those of one round, or those of two heaps.

use std::collections::BTreeMap;

use super::values::Values;
use crate::rows::all_self_ticks;
use crate::session::Session;
use crate::statistics::{Shift, mean, median};

/// How a session was measured.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The round and the order of functions of each run.
    pub places: Vec<(u32, u32)>,
    /// The program's time on the CPU in each run, in ticks.
    pub whole: Vec<f64>,
    /// The median of the core clock's rate, in cycles per tick.
    pub core_clock: Option<f64>,
}

impl Runs {
    pub fn of(session: &Session) -> Self {
        let place = |index: usize| {
            let run = session.about_run(index);
            let round = run.and_then(|run| run.round).unwrap_or(index as u32);
            (round, run.and_then(|run| run.order).unwrap_or(round))
        };
        let whole = |index: usize| {
            let report = &session.runs[index];
            let seconds = session.about_run(index).and_then(|run| run.cpu_seconds);
            let ticks = seconds.zip(report.clock().hz());
            ticks.map_or_else(|| all_self_ticks(report), |(seconds, hz)| seconds * hz)
        };
        let runs = session.runs.iter();
        let rates = runs.filter_map(|run| run.clock().core_cycles_per_tick());
        Self {
            places: (0..session.runs.len()).map(place).collect(),
            whole: (0..session.runs.len()).map(whole).collect(),
            core_clock: median(&rates.filter(|&rate| rate > 0.0).collect::<Vec<f64>>()),
        }
    }

    /// The runs of each round, and the round's order.
    fn rounds(&self) -> BTreeMap<(u32, u32), Vec<usize>> {
        let mut rounds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, &place) in self.places.iter().enumerate() {
            rounds.entry(place).or_default().push(index);
        }
        rounds
    }
}

/// Runs that are compared: some before, some after, and the order of functions that they have in common.
pub type Pair = (Vec<usize>, Vec<usize>, u32);

/// The pairs of two sessions that were measured in turns.
pub fn in_turns(before: &Runs, after: &Runs) -> Vec<Pair> {
    let after = after.rounds();
    let both = before.rounds().into_iter().filter_map(|(place, before)| {
        let after = after.get(&place)?.clone();
        Some((before, after, place.1))
    });
    both.collect()
}

/// The pairs of a session with itself: the first and the last run of each round or, if there is only one, each run and the next.
pub fn with_itself(runs: &Runs) -> Vec<Pair> {
    let rounds = runs.rounds();
    let pair = |one: usize, other: usize, order: u32| (vec![one], vec![other], order);
    if rounds.values().all(|round| round.len() > 1) {
        let rounds = rounds.into_iter();
        let ends = rounds.map(|((_, order), runs)| pair(runs[0], runs[runs.len() - 1], order));
        return ends.collect();
    }
    let two = |half| pair(2 * half, 2 * half + 1, half as u32);
    (0..runs.places.len() / 2).map(two).collect()
}

/// The shift of a figure, whose logarithms are given, over pairs. The unit is an order of functions, if there are several.
pub fn shift(pairs: &[Pair], before: &[f64], after: &[f64]) -> Option<Shift> {
    let level = |figures: &[f64], runs: &[usize]| {
        let figures = runs.iter().map(|&run| figures[run]);
        figures.sum::<f64>() / runs.len() as f64
    };
    let is_one_order = pairs.iter().all(|pair| pair.2 == pairs[0].2);
    let mut units: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (index, (old, new, order)) in pairs.iter().enumerate() {
        let unit = if is_one_order { index as u32 } else { *order };
        let change = level(after, new) - level(before, old);
        units.entry(unit).or_default().push(change);
    }
    let changes = units.values().map(|changes| mean(changes));
    Shift::paired(changes.collect())
}

/// The time of the program outside a function and outside `others`, in each run. Not positive, and so not used, if that is less than a tenth.
pub fn rest(runs: &Runs, values: &Values, others: &[&Values]) -> Vec<f64> {
    let rest = |(index, whole): (usize, &f64)| {
        let others: f64 = others.iter().map(|other| other.own[index]).sum();
        let rest = whole - values.own[index] - others;
        if rest > whole / 10.0 { rest } else { 0.0 }
    };
    runs.whole.iter().enumerate().map(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{About, Run};
    use tsc_report::Report;

    #[test]
    fn a_run_without_a_report_does_not_move_the_others() {
        let run = |number: u32| Run {
            folder: format!("{number:03}"),
            round: Some(number / 2),
            order: Some(7),
            ..Run::default()
        };
        let session = Session {
            label: String::new(),
            path: "session".into(),
            about: Some(About {
                runs: (0..4).map(run).collect(),
                ..About::default()
            }),
            folders: ["000", "002", "003"].map(str::to_owned).to_vec(),
            runs: vec![Report::default(); 3],
        };
        assert_eq!(Runs::of(&session).places, [(0, 7), (1, 7), (1, 7)]);
    }
}
