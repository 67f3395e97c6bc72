//! The example `hotspots` alone, and beside four busy threads: does other work on the machine change the order of its rows?

use std::collections::HashMap;
use std::hint::black_box;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use tsc_runtime::Report;

use super::spread;
use super::work::work;
use overhead::target;

const ROUNDS: usize = 5;
const HOGS: usize = 4;

pub(super) fn run() -> io::Result<()> {
    let program = build()?;
    let (mut orders, mut totals) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let idle = measure(&program)?;
        let busy = beside_hogs(|| measure(&program))?;
        orders.push(spearman(&idle, &busy));
        let sum = |rows: &HashMap<String, f64>| rows.values().sum::<f64>();
        totals.push(sum(&busy) / sum(&idle));
    }
    let (order, order_measured) = spread(&orders);
    let (total, total_measured) = spread(&totals);
    target::print(
        &format!(
            "the example hotspots idle and beside {HOGS} busy threads: rank correlation of its rows by self ticks on the CPU; their sum ÷ idle"
        ),
        "≥ 0.97; 0.88–1.12",
        format!("{order_measured}; {total_measured}"),
        order >= 0.97 && (0.88..=1.12).contains(&total),
    );
    Ok(())
}

/// The example's path.
fn build() -> io::Result<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "build",
            "--quiet",
            "--release",
            "-p",
            "examples",
            "--bin",
            "hotspots",
        ])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split("\"executable\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.ends_with("hotspots"))
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Self ticks on the CPU by function.
fn measure(program: &str) -> io::Result<HashMap<String, f64>> {
    let output = Command::new(program)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tsc-runtime"))
        .env("TSC_REPORT", "json")
        .env_remove("TSC_REPORT_FILE")
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let report = Report::from_json(&text).map_err(io::Error::other)?;
    Ok(report
        .callsites()
        .iter()
        .map(|row| {
            let ticks = row.self_on_cpu_ticks().unwrap_or(row.self_ticks());
            (row.name().to_owned(), ticks)
        })
        .collect())
}

fn beside_hogs<T>(body: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..HOGS {
            scope.spawn(|| {
                while !done.load(Relaxed) {
                    black_box(work(10_000));
                }
            });
        }
        let result = body();
        done.store(true, Relaxed);
        result
    })
}

/// How far two orders of the same rows agree, from -1 to 1.
fn spearman(one: &HashMap<String, f64>, other: &HashMap<String, f64>) -> f64 {
    let ranks = |rows: &HashMap<String, f64>| -> HashMap<String, f64> {
        let mut names: Vec<_> = rows.iter().collect();
        names.sort_by(|one, other| one.1.total_cmp(other.1));
        let ranked = names.into_iter().enumerate();
        ranked
            .map(|(rank, (name, _))| (name.clone(), rank as f64))
            .collect()
    };
    let (ranks, others) = (ranks(one), ranks(other));
    let squares: f64 = ranks
        .iter()
        .map(|(name, rank)| (rank - others.get(name).copied().unwrap_or(-1.0)).powi(2))
        .sum();
    let rows = ranks.len() as f64;
    1.0 - 6.0 * squares / (rows * (rows * rows - 1.0))
}
