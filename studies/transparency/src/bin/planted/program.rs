//! The program: pulldown-cmark as published, with a few of its functions measured and one that can be slowed down.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use cargo_tsc::annotate::{Where, annotate};
use serde_json::Value;
use transparency::project::{copy_dir, dependency, stand_alone};
use transparency::{cargo, fetch};

/// The functions that a user would annotate after a first look.
const MEASURED: [&str; 7] = [
    "main",
    "pulldown_cmark",
    "run",
    "handle_inline_pass1",
    "parse_block",
    "parse_line",
    "parse_fenced_code_block",
];
/// The function that can be slowed down, and the line with which it begins.
pub const SLOWED: &str = "handle_inline_pass1";
const BEGINS: &str = "fn handle_inline_pass1(&mut self) {";
const ROUNDS: &str = "PLANTED_ROUNDS";
/// The idle rounds of the function that is not slowed down. Not 0: the end of an idle loop of any length is mispredicted once.
pub const USUAL: u64 = 100;
/// Enough rounds to measure the time of one.
const MANY: u64 = 2000;
/// How often the input repeats this repository's documentation, so that a run takes about a second.
const COPIES: usize = 1500;

const IDLE: &str = "
pub(crate) fn planted() {
    static ROUNDS: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let rounds = ROUNDS.get_or_init(|| std::env::var(\"PLANTED_ROUNDS\").map_or(0, |text| text.parse().unwrap()));
    for round in 0..*rounds {
        std::hint::black_box(round);
    }
}
";

pub struct Program {
    executable: PathBuf,
    input: PathBuf,
}

impl Program {
    pub fn build(scratch: &Path) -> io::Result<Self> {
        let (_, original) = fetch::newest("pulldown-cmark", scratch)?;
        let source = scratch.join("source");
        if source.exists() {
            fs::remove_dir_all(&source)?;
        }
        copy_dir(&original, &source)?;
        let _ = fs::remove_file(source.join("Cargo.lock"));
        let manifest = source.join("Cargo.toml");
        let mut text = fs::read_to_string(&manifest)?;
        stand_alone(&mut text);
        text.push_str(
            &dependency().replace("[\"release-builds\"]", "[\"release-builds\", \"json\"]"),
        );
        fs::write(manifest, text)?;
        let mut places = 0;
        for file in ["main.rs", "parse.rs", "firstpass.rs", "html.rs"] {
            places += prepare(&source.join("src").join(file))?;
        }
        if places != 1 {
            return Err(io::Error::other(format!("{places} functions are {BEGINS}")));
        }
        let lib = source.join("src/lib.rs");
        fs::write(&lib, fs::read_to_string(&lib)? + IDLE)?;
        let target = scratch.join("target");
        cargo::build_release(&source, &target)?;
        Ok(Self {
            executable: target.join("release/pulldown-cmark"),
            input: input(scratch)?,
        })
    }

    /// One run, whose report is a file in `folder`.
    pub fn run(&self, rounds: u64, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let status = Command::new(&self.executable)
            .arg(&self.input)
            .env(ROUNDS, rounds.to_string())
            .env("TSC_REPORT", "json")
            .env("TSC_REPORT_FILE", folder.join("%p.json"))
            .stdout(Stdio::null())
            .status()?;
        if status.success() {
            Ok(())
        } else {
            Err(io::Error::other(format!("the program: {status}")))
        }
    }

    /// The number of additional idle rounds that take this share of the function's own time.
    pub fn rounds(&self, share: f64, scratch: &Path) -> io::Result<u64> {
        let folder = scratch.join("calibration");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let mut own = [Vec::new(), Vec::new()];
        for turn in 0..7 {
            for (side, rounds) in [USUAL, USUAL + MANY].into_iter().enumerate() {
                let folder = folder.join(format!("{turn}-{side}"));
                self.run(rounds, &folder)?;
                own[side].push(own_ticks_per_call(&folder)?);
            }
        }
        let [usual, more] = own.map(|mut ticks| {
            ticks.sort_by(f64::total_cmp);
            ticks[ticks.len() / 2]
        });
        Ok((share * usual * MANY as f64 / (more - usual)).round() as u64)
    }
}

/// Adds the attribute to the functions that are measured, and the idle loop to one of them. Returns in how many places that begins.
fn prepare(file: &Path) -> io::Result<usize> {
    let source = fs::read_to_string(file)?;
    let annotated = annotate(&source, Where::Functions, &|function| {
        !MEASURED.contains(&function.name.as_str())
    });
    let text = annotated.map_err(io::Error::other)?.text;
    let places = text.matches(BEGINS).count();
    let text = text.replace(BEGINS, &format!("{BEGINS} crate::planted();"));
    fs::write(file, text)?;
    Ok(places)
}

/// This repository's documentation, many times over.
fn input(scratch: &Path) -> io::Result<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries: io::Result<Vec<_>> = fs::read_dir(docs)?.collect();
    let mut paths: Vec<PathBuf> = entries?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let mut text = String::new();
    for path in paths {
        if path.extension().is_some_and(|extension| extension == "md") {
            text += &fs::read_to_string(path)?;
        }
    }
    let input = scratch.join("input.md");
    fs::write(&input, text.repeat(COPIES))?;
    Ok(input)
}

fn own_ticks_per_call(folder: &Path) -> io::Result<f64> {
    for entry in fs::read_dir(folder)? {
        let report: Value = serde_json::from_str(&fs::read_to_string(entry?.path())?)?;
        let rows = report["callsites"].as_array();
        let row = rows.and_then(|rows| rows.iter().find(|row| is_slowed(row)));
        if let Some(row) = row {
            let figure = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
            return Ok(figure("self_ticks") / figure("calls"));
        }
    }
    Err(io::Error::other(format!("no {SLOWED} in a report")))
}

/// Whether a row is that of the function that can be slowed down.
pub fn is_slowed(row: &Value) -> bool {
    row["name"]
        .as_str()
        .is_some_and(|name| name.ends_with(SLOWED))
}
