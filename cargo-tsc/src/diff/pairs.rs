//! Which runs are compared with which: those of one round, or those of two heaps.

use std::collections::BTreeMap;

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
            // Of two programs at once, only they know their own.
            let own = || report.process().cpu_ns().map(|ns| ns as f64 / 1e9);
            let run = session.about_run(index);
            let seconds = run.and_then(|run| run.cpu_seconds.or_else(own));
            let ticks = seconds.zip(report.clock().hz());
            ticks.map_or_else(|| report.self_sum(), |(seconds, hz)| seconds * hz)
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

/// The variance of these pairs, as a part of that of pairs of two runs: a mean of two runs has half the variance of one. Without pairs, all runs of
/// a session are compared with as many of the other, where there are half as many pairs of a session with itself.
pub fn variance(pairs: &[Pair]) -> f64 {
    let of_pair = |(before, after, _): &Pair| {
        let of_side = |runs: &[usize]| 0.5 / runs.len() as f64;
        of_side(before) + of_side(after)
    };
    match pairs {
        [] => 0.5,
        _ => mean(&Vec::from_iter(pairs.iter().map(of_pair))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{About, Run};
    use tsc_report::Report;

    #[test]
    fn more_runs_a_side_vary_less() {
        let pair = |before: usize, after: usize| (vec![0; before], vec![0; after], 0);
        assert_eq!(variance(&[pair(1, 1)]), 1.0);
        assert_eq!(variance(&[pair(2, 1), pair(2, 1)]), 0.75);
        assert_eq!(variance(&[pair(2, 2)]), 0.5);
        assert_eq!(variance(&[]), 0.5);
    }

    #[test]
    fn a_program_tells_its_cpu_time_where_two_ran_at_once() {
        let mut json = serde_json::to_value(Report::default()).unwrap();
        json["clock"]["hz"] = 2e9.into();
        json["process"]["cpu_ns"] = 3_000_000_000_u64.into();
        let whole = |cpu_seconds| {
            let run = Run {
                folder: "000".to_owned(),
                cpu_seconds,
                ..Run::default()
            };
            let session = Session {
                label: String::new(),
                path: "session".into(),
                about: Some(About {
                    runs: vec![run],
                    ..About::default()
                }),
                folders: vec!["000".to_owned()],
                runs: vec![Report::from_json(&json.to_string()).unwrap()],
            };
            Runs::of(&session).whole
        };
        assert_eq!(whole(Some(4.0)), [8e9]);
        assert_eq!(whole(None), [6e9]);
    }

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
