//! Runs `cargo tsc run --all` on programs from the public registry, as a new user would: can they be built, is their output the same, how
//! much are they slowed down, and is their source unchanged?
//!
//! `cargo run --release --manifest-path tests/transparency/Cargo.toml --bin real_programs [-n RUNS] [PROGRAM…]` uses all of `programs.txt`
//! if no names are given. It installs `cargo tsc` into a folder of its own and prints a Markdown table. It fails unless all programs can
//! be built, print the same, and keep their source. It takes an hour.

#![forbid(unsafe_code)]

mod inputs;
mod subject;
mod tree;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, fs, io};

use inputs::Inputs;
use subject::Subject;
use transparency::project::{copy_dir, stand_alone};
use transparency::{cargo, fetch};

/// Runs of each program, in turns with bare ones.
const RUNS: u32 = 5;

fn main() -> io::Result<ExitCode> {
    let mut wanted: Vec<String> = env::args().skip(1).collect();
    let mut runs = RUNS;
    if wanted.first().is_some_and(|word| word == "-n") {
        runs = wanted
            .get(1)
            .and_then(|number| number.parse().ok())
            .unwrap_or(RUNS);
        wanted.drain(..2.min(wanted.len()));
    }
    let scratch = cargo::scratch("real_programs")?;
    let tool = cargo::install(&scratch)?;
    let inputs = Inputs::make(&scratch.join("inputs"))?;
    println!(
        "| program | kind | functions annotated | too short | left out | same output | source untouched | s, bare | measured | × | main's net ÷ bare | largest by self | first report after, s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all_well = true;
    for subject in include_str!("programs.txt")
        .lines()
        .filter_map(Subject::parse)
    {
        if wanted.is_empty() || wanted.contains(&subject.name) {
            all_well &= measure(&subject, runs, &tool, &scratch, &inputs)?;
        }
    }
    Ok(if all_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One program. Whether all is as it must be.
fn measure(
    subject: &Subject,
    runs: u32,
    tool: &Path,
    scratch: &Path,
    inputs: &Inputs,
) -> io::Result<bool> {
    let (version, original) = fetch::newest(&subject.name, scratch)?;
    let folder = scratch.join(&subject.name);
    let (source, target) = (folder.join("source"), folder.join("target"));
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    copy_dir(&original, &source)?;
    let manifest = source.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    stand_alone(&mut text);
    fs::write(&manifest, text)?;
    let before = tree::digest(&source)?;
    let arguments = subject.arguments(inputs, &folder.join("out"));
    let _ = fs::remove_file(folder.join("out"));
    let start = Instant::now();
    let output = Command::new(tool)
        .current_dir(&source)
        .env("CARGO_TARGET_DIR", &target)
        .args(["tsc", "run", "--all", "--name", "first", "--json", "-n"])
        .arg(runs.to_string())
        .args(["--", "run", "--release"])
        .args(&subject.options)
        .arg("--")
        .args(&arguments)
        .stdin(std::process::Stdio::null())
        .output()?;
    let took = start.elapsed().as_secs_f64();
    let untouched = tree::digest(&source)? == before;
    let name = format!("{} {version} | {}", subject.name, subject.kind);
    let session = fs::read_to_string(target.join("tsc/first/session.json"));
    let (Ok(session), Ok(report)) = (
        session,
        serde_json::from_slice::<serde_json::Value>(&output.stdout),
    ) else {
        println!("| {name} | **it did not come to a report** |");
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        return Ok(false);
    };
    let session: serde_json::Value = serde_json::from_str(&session)?;
    let same = subject::says_the_same(&target.join("tsc/.all"), &source, &arguments)?;
    println!(
        "| {name} | {} | {} | {} | {} | {} | {took:.0} |",
        subject::functions(&session),
        yes(same),
        yes(untouched),
        subject::times(&session),
        subject::largest(&report),
    );
    // What is built is large, and the next program needs none of it.
    fs::remove_dir_all(target.join("tsc/.all"))?;
    Ok(same && untouched)
}

fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "**no**" }
}
