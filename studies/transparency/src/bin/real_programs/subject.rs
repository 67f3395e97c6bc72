//! A program of the list, and the results of its session.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::{fs, io};

use serde_json::Value;
use transparency::cargo::executable;
use transparency::programs::statistics::median;

use crate::client::Answers;
use crate::inputs::Inputs;

/// A line of `programs.txt`.
pub struct Subject {
    pub name: String,
    pub kind: String,
    /// Whether its rows are compared with callgrind's. They are not if most of the time is the kernel's, or if there are several threads.
    pub ranked: bool,
    /// The arguments for cargo.
    pub options: Vec<String>,
    arguments: Vec<String>,
}

impl Subject {
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        let name = words.next().filter(|name| name != "#")?;
        let kind = words.next()?;
        let ranked = words.next()? == "ranked";
        let rest: Vec<String> = words.collect();
        let mut parts = rest.split(|word| word == "--");
        Some(Self {
            name,
            kind,
            ranked,
            options: parts.next()?.to_vec(),
            arguments: parts.next()?.to_vec(),
        })
    }

    /// Whether the program runs until a client ends it.
    pub fn is_service(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "{port}")
    }

    /// The program's arguments, with paths.
    pub fn arguments(&self, inputs: &Inputs, out: &Path, port: u16) -> Vec<String> {
        let mut all = Vec::new();
        for argument in &self.arguments {
            let times = argument
                .rsplit_once("}*")
                .and_then(|(word, times)| Some((format!("{word}}}"), times.parse().ok()?)));
            let (word, times) = times.unwrap_or((argument.clone(), 1));
            let word = inputs.fill(&word).replace("{port}", &port.to_string());
            let word = word.replace("{out}", &out.display().to_string());
            all.extend(std::iter::repeat_n(word, times));
        }
        all
    }
}

/// Whether the bare and the annotated program end alike, with the same output.
pub fn says_the_same(all: &Path, source: &Path, arguments: &[String]) -> io::Result<bool> {
    let run = |target: &str| -> io::Result<Output> {
        let _ = arguments.last().map(|last| {
            // The files that the program creates must not exist before.
            if last.ends_with("/out") {
                let _ = fs::remove_file(last);
            }
        });
        let program = executable(&all.join(target).join("release"))?;
        Command::new(program)
            .current_dir(source)
            .args(arguments)
            .env("TSC_REPORT", "off")
            .stdin(Stdio::null())
            .output()
    };
    let (bare, annotated) = (run("bare-target")?, run("annotated-target")?);
    let same = bare.status == annotated.status
        && bare.stdout == annotated.stdout
        && bare.stderr == annotated.stderr;
    if !same {
        eprintln!(
            "bare: {}, {} bytes; annotated: {}, {} bytes\n{}",
            bare.status,
            bare.stdout.len(),
            annotated.status,
            annotated.stdout.len(),
            String::from_utf8_lossy(&annotated.stderr)
        );
    }
    Ok(same)
}

/// Whether the answers of a service were the same in all runs. There is at least one run with probes and one without.
pub fn answers_the_same(answers: &Answers) -> bool {
    let known: Vec<u64> = answers
        .iter()
        .filter_map(|answer| match answer {
            Ok(answer) => Some(*answer),
            Err(error) => {
                eprintln!("the service: {error}");
                None
            }
        })
        .collect();
    known.len() == answers.len() && known.len() > 1 && known.iter().all(|one| *one == known[0])
}

/// The numbers of light, timed, too short and left out functions in the first remark.
pub fn functions(session: &Value) -> String {
    let first = session["remarks"][0].as_str().unwrap_or_default();
    let numbers: Vec<&str> = first
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect();
    numbers.join(" | ")
}

/// The times of the bare and the measured program, their ratio, and that of their CPU times.
pub fn times(session: &Value) -> String {
    let runs = session["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |key: &str| median(runs.iter().filter_map(|run| run[key].as_f64()).collect());
    let (bare, measured) = (of("bare_seconds"), of("seconds"));
    let of_cpu = of("cpu_seconds") / of("bare_cpu_seconds");
    format!(
        "{bare:.3} | {measured:.3} | {:.2} | {of_cpu:.2}",
        measured / bare
    )
}

/// The three rows with the most time of their own.
pub fn largest(report: &Value) -> String {
    let rows = report["report"]["callsites"].as_array();
    let mut rows: Vec<&Value> = rows.into_iter().flatten().collect();
    rows.sort_by(|a, b| own_ticks(b).total_cmp(&own_ticks(a)));
    let all: f64 = rows.iter().map(|row| own_ticks(row)).sum();
    let names = rows.iter().take(3).map(|row| {
        let name = row["name"].as_str().unwrap_or_default();
        format!("{name} {:.0} %", own_ticks(row) / all * 100.0)
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Self ticks of a row, on the CPU if that is known.
pub fn own_ticks(row: &Value) -> f64 {
    let ticks = |key: &str| row[key].as_f64();
    ticks("self_on_cpu_ticks")
        .or_else(|| ticks("self_ticks"))
        .unwrap_or(0.0)
}
