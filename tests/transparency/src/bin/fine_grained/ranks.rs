//! Is the order of the rows that of the work?

use std::collections::{HashMap, HashSet};
use std::path::Path;

use transparency::programs::callgrind;
use transparency::programs::run::Report;
use transparency::programs::statistics::{median, spearman};

use crate::{Runs, reports};

/// Rows below this share of all self ticks are not ranked.
const LEAST_SHARE: f64 = 0.01;

/// Self ticks, and how far they may be off.
#[derive(Clone, Copy, Default)]
struct Own {
    ticks: f64,
    error: f64,
}

/// A row and callgrind's instructions.
struct Ranked {
    name: String,
    own: Own,
    instructions: f64,
}

/// The rows above [`LEAST_SHARE`].
struct Ranking {
    /// By descending instructions.
    rows: Vec<Ranked>,
    /// The names of which callgrind has no function, in alphabetical order.
    unknown: Vec<String>,
    /// The self ticks of all rows.
    sum: f64,
}

/// Compares self ticks with instructions.
pub(crate) fn print(not_inlined: &Path, of: &Runs) {
    let Some(report) = reports(&of.annotated).next() else {
        return;
    };
    let names: HashSet<String> = own_ticks(report).into_keys().collect();
    let is_row = |name: &str| names.contains(name);
    let counted = callgrind::instructions(not_inlined, &[], callgrind::demangled, is_row);
    let instructions = match counted {
        Ok(instructions) => instructions,
        Err(error) => {
            println!("\ncallgrind: {error}");
            return;
        }
    };
    let of_runs: Vec<HashMap<String, Own>> = reports(&of.annotated).map(own_ticks).collect();
    let mut ticks: HashMap<String, Vec<f64>> = HashMap::new();
    for rows in &of_runs {
        for (name, own) in rows {
            ticks.entry(name.clone()).or_default().push(own.ticks);
        }
    }
    let median_of = |ticks| Own {
        ticks: median(ticks),
        error: 0.0,
    };
    let medians = ticks
        .into_iter()
        .map(|(name, ticks)| (name, median_of(ticks)))
        .collect();
    let Ranking { rows, unknown, sum } = rank(&medians, &instructions);
    let pairs: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| (row.own.ticks, row.instructions))
        .collect();
    println!(
        "\nSpearman, self ticks against callgrind's instructions, {} rows: {:.3}",
        rows.len(),
        spearman(&pairs)
    );
    print_pairs(&of_runs, &instructions);
    if !unknown.is_empty() {
        println!(
            "Not ranked, because callgrind has no function of this name: {}\n",
            unknown.join(", ")
        );
    }
    println!("| self | % of ticks | instructions | ticks/instruction |\n|---|---|---|---|");
    for row in rows {
        println!(
            "| {} | {:.1} | {:.0} | {:.2} |",
            row.name,
            row.own.ticks / sum * 100.0,
            row.instructions,
            row.own.ticks / row.instructions
        );
    }
}

/// How many pairs of rows differ by more than their stated errors, and whether these are in the right order.
fn print_pairs(of_runs: &[HashMap<String, Own>], instructions: &HashMap<String, f64>) {
    let (mut all, mut apart, mut in_order) = (0, 0, 0);
    for rows in of_runs {
        let rows = rank(rows, instructions).rows;
        for (index, one) in rows.iter().enumerate() {
            for other in &rows[index + 1..] {
                all += 1;
                let difference = one.own.ticks - other.own.ticks;
                if difference.abs() > one.own.error + other.own.error {
                    apart += 1;
                    in_order += u32::from(difference > 0.0);
                }
            }
        }
    }
    println!(
        "Of the {all} pairs of such rows in {} runs, the stated errors tell {apart} apart, {in_order} of them in the order of the instructions.\n",
        of_runs.len()
    );
}

/// Self ticks and their error, by name.
fn own_ticks(report: &Report) -> HashMap<String, Own> {
    let mut sums: HashMap<String, Own> = HashMap::new();
    for row in report.rows.iter().filter(|row| row.name != "root") {
        let sum = sums.entry(callgrind::short(&row.path())).or_default();
        sum.ticks += row.own;
        sum.error += row.own_error;
    }
    sums
}

fn rank(of: &HashMap<String, Own>, instructions: &HashMap<String, f64>) -> Ranking {
    let sum: f64 = of.values().map(|own| own.ticks).sum();
    let (mut rows, mut unknown) = (Vec::new(), Vec::new());
    for (name, &own) in of {
        if own.ticks <= LEAST_SHARE * sum {
            continue;
        }
        let name = name.clone();
        match instructions.get(&name) {
            Some(&instructions) => rows.push(Ranked {
                name,
                own,
                instructions,
            }),
            None => unknown.push(name),
        }
    }
    rows.sort_by(|one, other| other.instructions.total_cmp(&one.instructions));
    unknown.sort_unstable();
    Ranking { rows, unknown, sum }
}
