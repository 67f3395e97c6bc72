//! A program of the list, and the results of its session.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, io};

use serde_json::Value;

use crate::inputs::Inputs;

/// A line of `programs.txt`.
pub struct Subject {
    pub name: String,
    pub kind: String,
    /// Cargo's.
    pub options: Vec<String>,
    arguments: Vec<String>,
}

impl Subject {
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        let name = words.next().filter(|name| name != "#")?;
        let kind = words.next()?;
        let rest: Vec<String> = words.collect();
        let mut parts = rest.split(|word| word == "--");
        Some(Self {
            name,
            kind,
            options: parts.next()?.to_vec(),
            arguments: parts.next()?.to_vec(),
        })
    }

    /// The program's arguments, with paths.
    pub fn arguments(&self, inputs: &Inputs, out: &Path) -> Vec<String> {
        let fill = |argument: &String| {
            inputs
                .fill(argument)
                .replace("{out}", &out.display().to_string())
        };
        self.arguments.iter().map(fill).collect()
    }
}

/// Whether the bare and the annotated program end alike, with the same output.
pub fn says_the_same(all: &Path, source: &Path, arguments: &[String]) -> io::Result<bool> {
    let run = |target: &str| -> io::Result<Output> {
        let _ = arguments.last().map(|last| {
            // What the program is to make is not to be there.
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

/// The one program in a folder of cargo's.
fn executable(folder: &Path) -> io::Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Beside it lie a library, a list of what it was built from, and cargo's own.
        if path.is_file() && path.extension().is_none() && !is_hidden(&path) {
            return Ok(path);
        }
    }
    Err(io::Error::other(format!(
        "no program in {}",
        folder.display()
    )))
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Annotated, too short, left out: the numbers in the first remark.
pub fn functions(session: &Value) -> String {
    let first = session["remarks"][0].as_str().unwrap_or_default();
    let numbers: Vec<&str> = first
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect();
    numbers.join(" | ")
}

/// Bare, measured, their ratio, and the root's net time in the bare one's.
pub fn times(session: &Value) -> String {
    let runs = session["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |key: &str| median(runs.iter().filter_map(|run| run[key].as_f64()).collect());
    let (bare, measured) = (of("bare_seconds"), of("seconds"));
    let remarks = session["remarks"].as_array().map_or(&[][..], Vec::as_slice);
    let net = remarks
        .iter()
        .filter_map(Value::as_str)
        .find_map(|remark| {
            let rest = remark.strip_prefix("main's net time is ")?;
            rest.split(", ").nth(1)?.split(' ').next()
        })
        .unwrap_or("-");
    format!("{bare:.3} | {measured:.3} | {:.2} | {net}", measured / bare)
}

/// The three rows with the most time of their own.
pub fn largest(report: &Value) -> String {
    let rows = report["report"]["callsites"].as_array();
    let own = |row: &Value| row["self_ticks"].as_f64().unwrap_or(0.0);
    let mut rows: Vec<&Value> = rows.into_iter().flatten().collect();
    rows.sort_by(|a, b| own(b).total_cmp(&own(a)));
    let all: f64 = rows.iter().map(|row| own(row)).sum();
    let names = rows.iter().take(3).map(|row| {
        let name = row["name"].as_str().unwrap_or_default();
        format!("{name} {:.0} %", own(row) / all * 100.0)
    });
    names.collect::<Vec<_>>().join(", ")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
