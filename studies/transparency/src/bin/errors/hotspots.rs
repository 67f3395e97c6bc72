//! The example `hotspots`. The truth of a function without annotated callees is a run with that function alone annotated. That of
//! `count` is its share of the samples of `perf` in a run without probes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use transparency::cargo::build_release;
use transparency::programs::process::run_with_report;
use transparency::programs::profile;
use transparency::programs::statistics::median;
use transparency::project::{copy_dir, stand_alone};

use crate::Row;
use crate::report::{Report, name, own};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// What it reads, in so many copies: with one, it works for 20 ms, in which the core's clock is not yet what it is afterwards.
const TEXTS: [&str; 3] = ["cargo-tsc/src", "tsc-report/src", "tsc-runtime/src"];
const COPIES: usize = 10;

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

    /// The rows of so many runs. The runs of all forms alternate.
    pub(crate) fn measure(&self, runs: usize) -> io::Result<Vec<Row>> {
        let (mut reports, mut alone) = (Vec::new(), BTreeMap::<&str, Vec<f64>>::new());
        let mut samples = BTreeMap::<&str, f64>::new();
        // The files are in the page cache after this.
        self.report(&self.all)?;
        for _ in 0..runs {
            reports.push(self.report(&self.all)?);
            for (row, executable) in &self.alone {
                let report = self.report(executable)?;
                let mut found = report.callsites().filter(|found| name(found) == *row);
                alone.entry(row).or_default().extend(found.find_map(own));
            }
            for (function, count) in
                profile::record_command(&self.not_inlined, &[self.texts.display().to_string()])?
            {
                let of = |(_, names): &&(&str, &[&str])| {
                    names.iter().any(|name| function.contains(name))
                };
                if let Some((row, _)) = PARTS.iter().find(of) {
                    *samples.entry(row).or_default() += count;
                }
            }
        }
        let mut truths: BTreeMap<&str, f64> = alone
            .into_iter()
            .map(|(row, own)| (row, median(own)))
            .collect();
        let all: f64 = samples.values().sum();
        let share = samples.get(CALLER).copied().unwrap_or(f64::NAN) / all;
        truths.entry(CALLER).and_modify(|total| *total *= share);
        let rows = reports.iter().flat_map(|report| {
            let row = |callsite| {
                let name = name(callsite);
                report.row(name.to_owned(), callsite, *truths.get(name)?)
            };
            report.callsites().filter_map(row)
        });
        Ok(rows.collect())
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
