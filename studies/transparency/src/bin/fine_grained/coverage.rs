//! Do the stated standard errors say how far the figures are off?

use std::collections::HashMap;
use std::io;
use std::path::Path;

use transparency::programs::run::Report;

use crate::run_reporting;

const RUNS: usize = 40;
/// A row with fewer clock ticks in the mean has too few to know its error.
const TICKS: f64 = 1.0;
const LARGE: f64 = 0.01;

/// A row's figures in one run.
struct Figures {
    own: f64,
    /// Its share of all self ticks.
    share: f64,
    clock_ticks: f64,
    std_error: f64,
    /// The share of the standard error, likewise.
    share_error: f64,
}

/// How many figures there are, and how many are within two standard errors of their means.
#[derive(Default)]
struct Covered {
    own: usize,
    share: usize,
    all: usize,
}

pub(crate) fn print(light: &Path, turns: u64) -> io::Result<()> {
    let mut rows: HashMap<(String, String, u32), Vec<Figures>> = HashMap::new();
    for _ in 0..RUNS {
        add(&mut rows, &run_reporting(light, turns)?.1);
    }
    let (mut large, mut small) = (Covered::default(), Covered::default());
    for figures in rows.values() {
        let mean = |of: fn(&Figures) -> f64| figures.iter().map(of).sum::<f64>() / RUNS as f64;
        if mean(|one| one.clock_ticks) < TICKS {
            continue;
        }
        let (own, share) = (mean(|one| one.own), mean(|one| one.share));
        let covered = if share > LARGE {
            &mut large
        } else {
            &mut small
        };
        for one in figures {
            covered.all += 1;
            covered.own += usize::from((one.own - own).abs() <= 2.0 * one.std_error);
            covered.share += usize::from((one.share - share).abs() <= 2.0 * one.share_error);
        }
    }
    println!(
        "\n| within 2 standard errors of the mean of {RUNS} runs | figures | self ticks | share of self ticks |\n|---|---|---|---|"
    );
    for (name, covered) in [("rows above 1 %", large), ("smaller rows", small)] {
        let percent = |count: usize| 100.0 * count as f64 / covered.all as f64;
        println!(
            "| {name} | {} | {:.1} % | {:.1} % |",
            covered.all,
            percent(covered.own),
            percent(covered.share)
        );
    }
    Ok(())
}

fn add(rows: &mut HashMap<(String, String, u32), Vec<Figures>>, report: &Report) {
    let sum = report.own();
    for row in &report.rows {
        let (file, line) = row.place.clone();
        rows.entry((row.name.clone(), file, line))
            .or_default()
            .push(Figures {
                own: row.own,
                share: row.own / sum,
                clock_ticks: row.clock_ticks as f64,
                std_error: row.std_error,
                share_error: row.std_error / sum,
            });
    }
}
