//! The example `hotspots`. The truth of a function without annotated callees is a run with that function alone annotated. That of
//! `count` is its share of the samples of `perf` in a run without probes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use transparency::cargo::build_release;
use transparency::programs::process::run_with_report;
use transparency::programs::profile;
use transparency::project::{copy_dir, stand_alone};

use crate::report::{Report, own};
use crate::{Row, between};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// What it reads, in so many copies: with one, it works for 20 ms, in which the core's clock is not yet what it is afterwards.
const TEXTS: [&str; 3] = ["cargo-tsc/src", "tsc-report/src", "tsc-core/src"];
const COPIES: usize = 10;
/// How often `perf` looks.
const PROFILES: usize = 5;

/// Functions of nanoseconds, which the example does not annotate: probes take more of its time than the rest does then.
const CROWDED: [&str; 3] = ["intern", "normalise", "hash"];
/// The function that calls them, and these, by parts of their linker names; `intern` contains calls of `memcmp`.
const CALLER: &str = "Index::count";
const PARTS: [(&str, &[&str]); 5] = [
    (CALLER, &["Index5count"]),
    ("Index::intern", &["intern", "memcmp"]),
    ("normalise", &["normalise"]),
    ("hash", &["hash"]),
    ("Index::grow", &["grow"]),
];
/// Those that are compared with a run in which they alone are annotated.
const LEAVES: [&str; 5] = ["Index::intern", "read", "split", "normalise", "hash"];

/// The executables.
pub(crate) struct Forms {
    all: PathBuf,
    not_inlined: PathBuf,
    /// By the function that is annotated.
    alone: BTreeMap<&'static str, PathBuf>,
    texts: PathBuf,
}

/// What stands in place of an attribute.
enum Attribute {
    Kept,
    KeptOn(&'static str),
    NotInlined,
}

impl Forms {
    pub(crate) fn build(scratch: &Path) -> io::Result<Self> {
        let build = |name: &str, attribute| build(&scratch.join("hotspots"), name, attribute);
        let annotated = LEAVES.into_iter().chain([CALLER]);
        let texts = scratch.join("hotspots/texts");
        copy_texts(&texts)?;
        Ok(Self {
            texts,
            all: build("all", Attribute::Kept)?,
            not_inlined: build("not_inlined", Attribute::NotInlined)?,
            alone: annotated
                .map(|row| {
                    let function = row.rsplit("::").next().unwrap_or(row);
                    Ok((row, build(function, Attribute::KeptOn(function))?))
                })
                .collect::<io::Result<_>>()?,
        })
    }

    /// The rows of so many runs.
    pub(crate) fn measure(&self, runs: usize) -> io::Result<Vec<Row>> {
        // The files are in the page cache after this.
        let share = self.share_of_caller()?;
        let mut rows = Vec::new();
        for _ in 0..runs {
            for (name, executable) in &self.alone {
                let truth = || {
                    Ok(self
                        .report(executable)?
                        .find(name)
                        .and_then(own)
                        .unwrap_or(f64::NAN))
                };
                let all = || self.report(&self.all);
                let (report, truths) = between::measure(truth, all, |own| *own)?;
                let alone = truths.iter().sum::<f64>() / 2.0;
                let truth = if *name == CALLER {
                    alone * share
                } else {
                    alone
                };
                let row = |callsite| report.row((*name).to_owned(), callsite, truth);
                rows.extend(report.find(name).and_then(row));
            }
        }
        Ok(rows)
    }

    /// Which part of the time of `count` and its callees is its own.
    fn share_of_caller(&self) -> io::Result<f64> {
        let (mut own, mut all) = (0.0, 0.0);
        let texts = [self.texts.display().to_string()];
        for _ in 0..PROFILES {
            for (function, count) in profile::record_command(&self.not_inlined, &texts)? {
                let of = |(_, names): &&(&str, &[&str])| {
                    names.iter().any(|name| function.contains(name))
                };
                if let Some((row, _)) = PARTS.iter().find(of) {
                    all += count;
                    own += if *row == CALLER { count } else { 0.0 };
                }
            }
        }
        Ok(own / all)
    }

    /// The report of a run.
    fn report(&self, executable: &Path) -> io::Result<Report> {
        let file = executable.with_extension("json");
        run_with_report(Command::new(executable).arg(&self.texts), &file)?;
        Report::read(&file)
    }
}

fn copy_texts(to: &Path) -> io::Result<()> {
    let _ = fs::remove_dir_all(to);
    let copies = (0..COPIES).flat_map(|copy| TEXTS.map(|text| (copy, text)));
    copies.into_iter().try_for_each(|(copy, text)| {
        copy_dir(
            &Path::new(ROOT).join(text),
            &to.join(copy.to_string()).join(text),
        )
    })
}

/// Builds the example with other attributes.
fn build(scratch: &Path, name: &str, attribute: Attribute) -> io::Result<PathBuf> {
    let dir = scratch.join(name);
    let _ = fs::remove_dir_all(&dir);
    copy_dir(
        &Path::new(ROOT).join("examples/src/bin/hotspots"),
        &dir.join("src"),
    )?;
    for entry in fs::read_dir(dir.join("src"))? {
        let path = entry?.path();
        fs::write(&path, changed(&fs::read_to_string(&path)?, &attribute))?;
    }
    let mut manifest = format!(
        "[package]\nname = \"hotspots\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nlexopt = \"*\"\nexamples = {{ path = {:?} }}\n\
         tsc-runtime = {{ path = {:?}, features = [\"json\", \"release-builds\"] }}\n",
        format!("{ROOT}/examples"),
        format!("{ROOT}/tsc-runtime")
    );
    stand_alone(&mut manifest);
    fs::write(dir.join("Cargo.toml"), manifest)?;
    fs::copy(format!("{ROOT}/Cargo.lock"), dir.join("Cargo.lock"))?;
    let target = scratch.join("target");
    build_release(&dir, &target)?;
    let executable = dir.join("hotspots");
    fs::copy(target.join("release/hotspots"), &executable)?;
    Ok(executable)
}

/// The source text with more attributes, and other ones. An attribute is a line, and the function's name is in the next one.
fn changed(source: &str, attribute: &Attribute) -> String {
    let is_crowded = |line: &str| CROWDED.iter().any(|name| is_of(line, name));
    let mut lines: Vec<&str> = source
        .lines()
        .flat_map(|line| {
            is_crowded(line)
                .then_some("#[cycles]")
                .into_iter()
                .chain([line])
        })
        .collect();
    for index in 0..lines.len() {
        if !lines[index].trim_start().starts_with("#[cycles") {
            continue;
        }
        match attribute {
            Attribute::Kept => {}
            Attribute::KeptOn(function) => {
                if !is_of(lines[index + 1], function) {
                    lines[index] = "";
                }
            }
            Attribute::NotInlined => lines[index] = "#[inline(never)]",
        }
    }
    lines.join("\n")
}

/// Whether the line begins this function.
fn is_of(line: &str, function: &str) -> bool {
    line.contains(&format!("fn {function}("))
}
