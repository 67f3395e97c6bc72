//! Programs whose work is in their dependencies: does `cargo tsc run --all --with-deps` give each crate the share of the time that `perf`
//! gives it in the program without probes?
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin by_crate [PROGRAM…]` uses all of `programs.txt` if no names are
//! given, and prints a Markdown table for each. It fails if a crate is over 3 points off. Needs `perf` and binutils.
//!
//! The compiler inlines functions of one crate into those of another one, also in the program without probes. So `perf`'s samples are counted by
//! the file that the code was written in, which the line tables know; this is what a report is about. That of the function in the executable is
//! shown beside it.

#![forbid(unsafe_code)]

mod inputs;
mod shares;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use inputs::Inputs;
use serde_json::Value;
use shares::{Shares, as_linked, as_written, farthest, of_report, of_stacks};
use transparency::programs::{profile, stacks};
use transparency::{cargo, fetch, project};

/// How many points a crate may be off.
const ALLOWED: f64 = 3.0;
/// Crates with less of everything are not printed.
const SHOWN: f64 = 0.01;

const COLUMNS: &str = "\
| % | perf, as written | perf, as linked | report | perf of the measured program, as written |
|---|---|---|---|---|";

struct Bench {
    tool: PathBuf,
    scratch: PathBuf,
    inputs: Inputs,
}

fn main() -> io::Result<ExitCode> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    profile::check()?;
    let scratch = cargo::scratch("by_crate")?;
    let bench = Bench {
        tool: cargo::install(&scratch)?,
        inputs: Inputs::make(&scratch.join("inputs"))?,
        scratch,
    };
    let mut all_well = true;
    let lines = include_str!("programs.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let (cargo, arguments) = line.split_once("-- ").unwrap_or((line, ""));
        let cargo: Vec<&str> = cargo.split_whitespace().collect();
        if let Some((name, options)) = cargo.split_first()
            && (wanted.is_empty() || wanted.iter().any(|word| word == name))
        {
            let arguments = arguments.split_whitespace();
            let arguments: Vec<String> = arguments.map(|word| bench.inputs.fill(word)).collect();
            all_well &= bench.measure(name, options, &arguments)?;
        }
    }
    Ok(if all_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Bench {
    /// Measures one program. Returns whether each crate has its share.
    fn measure(&self, name: &str, options: &[&str], arguments: &[String]) -> io::Result<bool> {
        let (version, original) = fetch::newest(name, &self.scratch)?;
        let (source, target) = (
            self.scratch.join(name),
            self.scratch.join("target").join(name),
        );
        project::copy_alone(&original, &source)?;
        let output = self
            .command(&source, &target)
            .args(options)
            .arg("--")
            .args(arguments)
            .output()?;
        let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
            return Err(io::Error::other(
                String::from_utf8_lossy(&output.stderr).into_owned(),
            ));
        };
        println!("\n## {name} {version}\n");
        let session = fs::read_to_string(target.join("tsc/by_crate/session.json"))?;
        print_remarks(&serde_json::from_str(&session)?);
        let record = |build: &str| {
            let folder = target.join("tsc/.all").join(build).join("release");
            stacks::record(&cargo::executable(&folder)?, arguments)
        };
        let (bare, measured) = (record("bare-target")?, record("annotated-target")?);
        let of_report = of_report(&report);
        let rows: BTreeSet<String> = of_report.keys().cloned().collect();
        let written = of_stacks(&bare, &rows, as_written);
        let columns = [
            written.clone(),
            of_stacks(&bare, &rows, as_linked),
            of_report.clone(),
            of_stacks(&measured, &rows, as_written),
        ];
        print_table(&columns);
        let off = farthest(&of_report, &written);
        println!(
            "\n{} samples; the report is at most {off:.1} points off.",
            bare.len()
        );
        Ok(off <= ALLOWED)
    }

    fn command(&self, source: &Path, target: &Path) -> Command {
        let mut command = Command::new(&self.tool);
        command
            .current_dir(source)
            .env("CARGO_TARGET_DIR", target)
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .env("CARGO_PROFILE_RELEASE_STRIP", "none")
            .args(["tsc", "run", "--all", "--with-deps", "--name", "by_crate"])
            .args(["--json", "--release"])
            .stdin(Stdio::null());
        command
    }
}

/// What the session says of the probes and of its time.
fn print_remarks(session: &Value) {
    for remark in session["remarks"].as_array().into_iter().flatten() {
        println!("- {}", remark.as_str().unwrap_or_default().trim());
    }
    println!();
}

fn print_table(columns: &[Shares]) {
    println!("{COLUMNS}");
    let mut crates: Vec<&String> = columns.iter().flat_map(|shares| shares.keys()).collect();
    let of = |shares: &Shares, krate: &String| shares.get(krate).copied().unwrap_or(0.0);
    crates.sort_by(|a, b| {
        of(&columns[0], b)
            .total_cmp(&of(&columns[0], a))
            .then(a.cmp(b))
    });
    crates.dedup();
    for krate in crates {
        let shares: Vec<f64> = columns.iter().map(|column| of(column, krate)).collect();
        if shares.iter().any(|share| *share > SHOWN) {
            let cells = shares.iter().map(|share| format!("{:.1}", 100.0 * share));
            println!("| {krate} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
    }
}
