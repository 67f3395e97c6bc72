//! What each statistic buys: the error of the slowed function's change, and how often it is found.

use std::collections::BTreeMap;
use std::io;

use cargo_tsc::statistics::{Shift, median};
use serde_json::Value;

use crate::program::row;
use crate::sessions::{Sessions, own};

/// Logarithms of the slowed function's figures in one round.
#[derive(Clone, Copy, Default)]
struct Figures {
    all: f64,
    /// All but the longest tenth of the calls, the shorter half, and the shortest quarter.
    most: f64,
    half: f64,
    quarter: f64,
    rest: f64,
}

/// The statistics, from the one that needs the least to the one that needs the most.
const NAMES: [&str; 6] = [
    "two heaps",
    "pairs",
    "pairs, the rest of the program subtracted",
    "shorter 90 % of calls, pairs",
    "shorter half of the calls, pairs",
    "shortest quarter of the calls, pairs",
];
/// The level of one test in a table of ten rows.
const LEVEL: f64 = 0.002;

/// The standard errors and the p-values of each statistic, of all tries.
#[derive(Default)]
pub struct Table(Vec<[(f64, f64); NAMES.len()]>);

impl Table {
    /// Adds a try.
    pub fn add(&mut self, sessions: &Sessions, slowed: &str) -> io::Result<()> {
        let (old, new) = (figures(sessions, 0, slowed)?, figures(sessions, 1, slowed)?);
        let pairs = |of: fn(&Figures) -> f64| -> Vec<f64> {
            old.iter()
                .zip(&new)
                .map(|(old, new)| of(new) - of(old))
                .collect()
        };
        let heap = |runs: &[Figures]| runs.iter().map(|run| run.all).collect::<Vec<f64>>();
        let shifts = [
            Shift::independent(&heap(&old), &heap(&new), 0.0),
            Shift::paired(pairs(|run| run.all)),
            Shift::paired(pairs(|run| run.all - run.rest)),
            Shift::paired(pairs(|run| run.most)),
            Shift::paired(pairs(|run| run.half)),
            Shift::paired(pairs(|run| run.quarter)),
        ];
        self.0.push(shifts.map(|shift| {
            let found = shift.filter(|shift| shift.estimate > 0.0);
            (
                shift.map_or(f64::NAN, |shift| shift.std_error),
                found.map_or(1.0, |shift| shift.p_value()),
            )
        }));
        Ok(())
    }

    /// Prints tables side by side.
    pub fn print(tables: &[(String, Self)]) {
        let names: Vec<&str> = tables.iter().map(|table| &*table.0).collect();
        println!(
            "\n| statistic of the slowed function: standard error, median, found | {} |",
            names.join(" | ")
        );
        println!("|---{}|", "|---".repeat(tables.len()));
        for (index, name) in NAMES.iter().enumerate() {
            print!("| {name} |");
            for (_, table) in tables {
                let tries = table.0.iter().map(|results| results[index]);
                let errors: Vec<f64> = tries.clone().map(|(error, _)| error).collect();
                let found = tries.filter(|&(_, p)| p < LEVEL).count();
                let error = 100.0 * median(&errors).unwrap_or(f64::NAN);
                print!(" {error:.2} %, {found} |");
            }
            println!();
        }
    }
}

/// The means of each round.
fn figures(sessions: &Sessions, side: usize, slowed: &str) -> io::Result<Vec<Figures>> {
    let mut rounds: BTreeMap<u64, Vec<Figures>> = BTreeMap::new();
    for (round, report) in sessions.reports(side)? {
        let figures = of_run(&report, slowed).ok_or(io::ErrorKind::NotFound)?;
        rounds.entry(round).or_default().push(figures);
    }
    let mean = |runs: &[Figures], of: fn(&Figures) -> f64| {
        runs.iter().map(of).sum::<f64>() / runs.len() as f64
    };
    Ok(rounds
        .values()
        .map(|runs| Figures {
            all: mean(runs, |run| run.all),
            most: mean(runs, |run| run.most),
            half: mean(runs, |run| run.half),
            quarter: mean(runs, |run| run.quarter),
            rest: mean(runs, |run| run.rest),
        })
        .collect())
}

fn of_run(report: &Value, slowed: &str) -> Option<Figures> {
    let rows = report["callsites"].as_array()?;
    let row = row(report, slowed)?;
    let all = own(row);
    let whole: f64 = rows.iter().map(own).sum();
    Some(Figures {
        all: all.ln(),
        most: shorter(row, 0.9).ln(),
        half: shorter(row, 0.5).ln(),
        quarter: shorter(row, 0.25).ln(),
        rest: (whole - all).ln(),
    })
}

/// The mean of the shorter calls, with the ticks of the probe itself, from the histogram.
fn shorter(row: &Value, share: f64) -> f64 {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let buckets = row["histogram"].as_array().into_iter().flatten();
    let buckets = buckets.map(|bucket| (number(&bucket["from_ticks"]), number(&bucket["calls"])));
    let wanted = number(&row["samples"]) * share;
    let (mut calls, mut ticks) = (0.0, 0.0);
    for (from, some) in buckets {
        let some = some.min(wanted - calls);
        calls += some;
        ticks += some * from;
    }
    ticks / wanted
}
