//! What each statistic buys: the error of the slowed function's change, and how often it is found.

use std::path::Path;
use std::{fs, io};

use cargo_tsc::statistics::{Shift, median};
use serde_json::Value;

use crate::program::is_slowed;

/// Logarithms of the slowed function's figures in one run.
#[derive(Clone, Copy)]
struct Figures {
    all: f64,
    shorter: f64,
    rest: f64,
}

/// The statistics, from the one that needs the least to the one that is used.
const NAMES: [&str; 6] = [
    "all calls, two heaps",
    "all calls, pairs",
    "all calls, pairs, share of the program",
    "all calls, pairs, the rest of the program removed",
    "shorter 90 %, pairs",
    "shorter 90 %, pairs, the rest of the program removed",
];

/// The standard errors and the p-values of each statistic, of all tries.
#[derive(Default)]
pub struct Table(Vec<[(f64, f64); 6]>);

impl Table {
    /// Adds a try: the folders of its two sides, whose runs have the same names.
    pub fn add(&mut self, before: &Path, after: &Path) -> io::Result<()> {
        let (old, new) = (figures(before)?, figures(after)?);
        let pairs = |of: fn(&Figures) -> f64| -> Vec<f64> {
            let pairs = old.iter().zip(&new);
            pairs.map(|(old, new)| of(new) - of(old)).collect()
        };
        let heap = |runs: &[Figures]| runs.iter().map(|run| run.all).collect::<Vec<f64>>();
        let rest = pairs(|run| run.rest);
        let shifts = [
            Shift::independent(&heap(&old), &heap(&new), 0.0),
            Shift::paired(&pairs(|run| run.all), None),
            Shift::paired(&pairs(|run| run.all - run.rest), None),
            Shift::paired(&pairs(|run| run.all), Some(&rest)),
            Shift::paired(&pairs(|run| run.shorter), None),
            Shift::paired(&pairs(|run| run.shorter), Some(&rest)),
        ];
        let results = shifts.map(|shift| {
            let found = shift.filter(|shift| shift.estimate > 0.0);
            let error = shift.map_or(f64::NAN, |shift| shift.std_error);
            (error, found.map_or(1.0, |shift| shift.p_value()))
        });
        self.0.push(results);
        Ok(())
    }

    /// Prints the table. With `rows` functions, a test is at 5 % divided by their number.
    pub fn print(&self, rows: f64) {
        println!("\n| statistic of the slowed function | standard error, median | found |");
        println!("|---|---|---|");
        for (index, name) in NAMES.iter().enumerate() {
            let tries = self.0.iter().map(|results| results[index]);
            let errors: Vec<f64> = tries.clone().map(|(error, _)| error).collect();
            let found = tries.filter(|&(_, p)| p < 0.05 / rows).count();
            let error = 100.0 * median(&errors).unwrap_or(f64::NAN);
            println!("| {name} | {error:.2} % | {found} of {} |", self.0.len());
        }
    }
}

fn figures(side: &Path) -> io::Result<Vec<Figures>> {
    let mut runs: Vec<_> = fs::read_dir(side)?.collect::<io::Result<_>>()?;
    runs.retain(|run| run.path().is_dir());
    runs.sort_by_key(fs::DirEntry::path);
    runs.iter().map(|run| of_run(&run.path())).collect()
}

fn of_run(folder: &Path) -> io::Result<Figures> {
    let missing = || io::Error::other(format!("{}: no report", folder.display()));
    let file = fs::read_dir(folder)?.next().ok_or_else(missing)??;
    let report: Value = serde_json::from_str(&fs::read_to_string(file.path())?)?;
    let rows = report["callsites"].as_array().ok_or_else(missing)?;
    let own = |row: &Value| {
        let own = row["self_on_cpu_ticks"].as_f64();
        own.or(row["self_ticks"].as_f64()).unwrap_or(0.0)
    };
    let row = rows.iter().find(|row| is_slowed(row)).ok_or_else(missing)?;
    let all = own(row);
    let whole: f64 = rows.iter().map(own).sum();
    Ok(Figures {
        all: all.ln(),
        shorter: shorter(row).ln(),
        rest: (whole - all).ln(),
    })
}

/// The mean of the shorter 90 % of the calls, from the histogram.
fn shorter(row: &Value) -> f64 {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let buckets = row["histogram"].as_array().into_iter().flatten();
    let buckets = buckets.map(|bucket| (number(&bucket["from_ticks"]), number(&bucket["calls"])));
    let samples = number(&row["samples"]);
    let mut longest = samples * 0.1;
    let mut ticks = number(&row["mean_ticks"]) * samples;
    for (from, calls) in buckets.rev() {
        let some = calls.min(longest);
        longest -= some;
        ticks -= some * from;
    }
    ticks / (samples * 0.9)
}
