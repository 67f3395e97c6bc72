//! Counts how many errors cover the truth.

use std::collections::BTreeMap;

use transparency::programs::statistics::median;

use crate::Row;

/// The rows of all runs of some programs.
#[derive(Default)]
pub(crate) struct Tally(Vec<(String, Vec<Share>)>);

/// A row's stated and true error, as shares of its self ticks.
struct Share {
    name: String,
    stated: f64,
    seen: f64,
}

impl Tally {
    pub(crate) fn add(&mut self, program: &str, rows: &[Row]) {
        let share = |row: &Row| Share {
            name: row.name.clone(),
            stated: row.error / row.own.abs(),
            seen: (row.own - row.truth).abs() / row.own.abs(),
        };
        let shares = rows.iter().map(share);
        let known = shares.filter(|share| share.stated.is_finite() && share.seen.is_finite());
        self.0.push((program.to_owned(), known.collect()));
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// A line for each row, and one for each program.
    pub(crate) fn print(&self) {
        heading("row");
        for (program, shares) in &self.0 {
            let mut by_name: BTreeMap<&str, Vec<&Share>> = BTreeMap::new();
            for share in shares {
                by_name.entry(&share.name).or_default().push(share);
            }
            for (name, shares) in by_name {
                line(&format!("{program}: {name}"), &shares);
            }
        }
        println!();
        heading("program");
        for (program, shares) in &self.0 {
            line(program, &shares.iter().collect::<Vec<_>>());
        }
    }

    /// One line for everything.
    pub(crate) fn print_sum(&self) {
        heading("");
        let all: Vec<&Share> = self.0.iter().flat_map(|(_, shares)| shares).collect();
        line("all rows", &all);
    }
}

fn heading(what: &str) {
    println!(
        "| {what} | figures | within the stated error, % | stated, % of self, median | seen, median | stated ÷ seen |\n|---|---|---|---|---|---|"
    );
}

fn line(name: &str, shares: &[&Share]) {
    let covered = shares.iter().filter(|share| share.seen <= share.stated);
    let middle = |of: fn(&Share) -> f64| median(shares.iter().map(|share| of(share)).collect());
    let (stated, seen) = (middle(|share| share.stated), middle(|share| share.seen));
    println!(
        "| {name} | {} | {:.1} | {:.2} | {:.2} | {:.1} |",
        shares.len(),
        100.0 * covered.count() as f64 / shares.len() as f64,
        100.0 * stated,
        100.0 * seen,
        stated / seen
    );
}
