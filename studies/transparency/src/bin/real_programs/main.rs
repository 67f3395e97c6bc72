//! Runs `cargo tsc run --all` on programs from the public registry, as a new user would: can they be built, is their output the same, how
//! much are they slowed down, is their source unchanged, and are the functions with the most ticks those with the most instructions?
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin real_programs [-n RUNS] [PROGRAM…]` uses all of
//! `programs.txt` if no names are given. It installs `cargo tsc` into a folder of its own and prints two Markdown tables, the second if
//! valgrind is installed. It fails unless all programs can be built, print the same, and keep their source. It takes an hour or two.

#![forbid(unsafe_code)]

mod client;
mod inputs;
mod ranks;
mod subject;
mod tree;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use std::{env, fs, io, thread};

use inputs::Inputs;
use serde_json::Value;
use subject::Subject;
use transparency::{cargo, fetch, project};

/// Runs of each program, in turns with bare ones.
const RUNS: u32 = 5;

const TABLE: &str = "\
| program | kind | functions light | timed | too short | left out | same output | source untouched | s, bare | measured | × | × of CPU time | largest by self | first report after, s |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

const RANKS: &str = "
| program | rows over 1 % | Spearman, ticks against instructions | first by ticks: its share of both | first by instructions | the same | elsewhere, with their ticks per instruction in the program's |
|---|---|---|---|---|---|---|";

struct Bench {
    runs: u32,
    tool: PathBuf,
    scratch: PathBuf,
    inputs: Inputs,
    /// Lines of the second table.
    ranks: Vec<String>,
}

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
    let mut bench = Bench {
        runs,
        tool: cargo::install(&scratch)?,
        inputs: Inputs::make(&scratch.join("inputs"))?,
        scratch,
        ranks: Vec::new(),
    };
    println!("{TABLE}");
    let mut all_well = true;
    for subject in include_str!("programs.txt")
        .lines()
        .filter_map(Subject::parse)
    {
        if wanted.is_empty() || wanted.contains(&subject.name) {
            all_well &= bench.measure(&subject)?;
        }
    }
    println!("{RANKS}");
    for line in &bench.ranks {
        println!("{line}");
    }
    Ok(if all_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Bench {
    /// Checks one program. Returns whether all results are as required.
    fn measure(&mut self, subject: &Subject) -> io::Result<bool> {
        let (version, original) = fetch::newest(&subject.name, &self.scratch)?;
        let folder = self.scratch.join(&subject.name);
        let (source, target) = (folder.join("source"), folder.join("target"));
        project::copy_alone(&original, &source)?;
        let before = tree::digest(&source)?;
        let port = client::free_port()?;
        let arguments = subject.arguments(&self.inputs, &folder.join("out"), port);
        let _ = fs::remove_file(folder.join("out"));
        let all = target.join("tsc/.all");
        let start = Instant::now();
        let command = self.command(subject, &source, &target, &arguments);
        let (output, answers) = run(command, subject.is_service().then_some(port), &all)?;
        let took = start.elapsed().as_secs_f64();
        let untouched = tree::digest(&source)? == before;
        let name = format!("{} {version} | {}", subject.name, subject.kind);
        let session = fs::read_to_string(target.join("tsc/first/session.json"));
        let (Ok(session), Ok(report)) = (session, serde_json::from_slice::<Value>(&output.stdout))
        else {
            println!("| {name} | **it did not come to a report** |");
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            return Ok(false);
        };
        let session: Value = serde_json::from_str(&session)?;
        let same = match answers {
            Some(answers) => subject::answers_the_same(&answers),
            None => subject::says_the_same(&all, &source, &arguments)?,
        };
        println!(
            "| {name} | {} | {} | {} | {} | {} | {took:.0} |",
            subject::functions(&session),
            yes(same),
            yes(untouched),
            subject::times(&session),
            subject::largest(&report),
        );
        if subject.ranked {
            let line = ranks::line(subject, &report, &all, &folder, &arguments);
            let line = line.unwrap_or_else(|error| format!("| {} | {error} |", subject.name));
            self.ranks.push(line);
        }
        // What is built is large, and the next program needs none of it.
        fs::remove_dir_all(all)?;
        Ok(same && untouched)
    }

    fn command(
        &self,
        subject: &Subject,
        source: &Path,
        target: &Path,
        arguments: &[String],
    ) -> Command {
        let mut command = Command::new(&self.tool);
        command
            .current_dir(source)
            .env("CARGO_TARGET_DIR", target)
            .args(["tsc", "run", "--all", "--name", "first", "--json", "-n"])
            .arg(self.runs.to_string())
            .args(["--", "run", "--release"])
            .args(&subject.options)
            .arg("--")
            .args(arguments)
            .stdin(Stdio::null());
        command
    }
}

/// Runs the command to its end. If `port` is given, the program is a service, and a client connects to that port meanwhile.
fn run(
    mut command: Command,
    port: Option<u16>,
    all: &Path,
) -> io::Result<(Output, Option<client::Answers>)> {
    let Some(port) = port else {
        return Ok((command.output()?, None));
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let client = scope.spawn(|| client::ask_all(port, all, &stop));
        let output = command.output();
        stop.store(true, Relaxed);
        let answers = client.join().unwrap_or_default();
        Ok((output?, Some(answers)))
    })
}

fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "**no**" }
}
