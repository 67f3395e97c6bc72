//! Measures the cost of the interruption detector: an annotated empty call, compared with one of a runtime whose detector always returns
//! "clean" without checking. No option of the runtime does this, so a changed copy of it is built.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use overhead::target;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const VERSION: &str = "0.1.0";
const OTHER_VERSION: &str = "0.1.1";

const CRATES: [&str; 4] = ["tsc-attr", "tsc-core", "tsc-report", "tsc-runtime"];
const DETECTOR: &str = "tsc-core/src/interruption/mod.rs";

/// The changes in the copy of this file: the check at the start, and the check at the stop.
const BLINDFOLDS: [(&str, &str); 2] = [
    ("self.seen() == rseq::descriptor()\n", "true\n"),
    ("self.is_armed() && self.usual_since.get() <= start", "true"),
];

const TARGET: f64 = 1.03;

pub(crate) fn run() -> io::Result<()> {
    let folder = std::env::temp_dir().join(format!("trust-{}", std::process::id()));
    let ratios = write(&folder).and_then(|()| measure(&folder));
    fs::remove_dir_all(&folder)?;
    let ratios = ratios?;
    let &[low, middle, high] = ratios.as_slice() else {
        return Err(io::Error::other(format!("not three figures: {ratios:?}")));
    };
    target::print(
        "an annotated empty call: with the detector ÷ without",
        "≤ 1.03",
        format!("{middle:.3} ({low:.3}–{high:.3})"),
        middle <= TARGET,
    );
    Ok(())
}

/// The changed copy, and a program that calls both runtimes.
fn write(folder: &Path) -> io::Result<()> {
    let (repository, blind) = (Path::new(REPOSITORY), folder.join("blind"));
    for name in CRATES {
        copy(&repository.join(name), &blind.join(name))?;
    }
    // Cargo does not allow two packages with the same name and version in one build.
    let manifest = fs::read_to_string(repository.join("Cargo.toml"))?;
    let manifest: String = manifest
        .lines()
        .map(|line| match line.strip_prefix("members = ") {
            Some(_) => format!("members = {CRATES:?}\n"),
            None => line.replace(VERSION, OTHER_VERSION) + "\n",
        })
        .collect();
    fs::write(blind.join("Cargo.toml"), manifest)?;
    let path = blind.join(DETECTOR);
    let source = fs::read_to_string(&path)?;
    fs::write(path, without_checks(source)?)?;
    // Not in a folder above the copy, because the copy would then be part of the program's workspace.
    let program = folder.join("program");
    fs::create_dir_all(program.join("src"))?;
    fs::write(
        program.join("Cargo.toml"),
        format!(
            "[package]\nname = \"detector\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
             seeing = {{ package = \"tsc-runtime\", path = \"{REPOSITORY}/tsc-runtime\", features = [\"release-builds\"] }}\n\
             blind = {{ package = \"tsc-runtime\", path = \"../blind/tsc-runtime\", features = [\"release-builds\"] }}\n"
        ),
    )?;
    fs::write(program.join("src/main.rs"), PROGRAM)
}

fn without_checks(mut source: String) -> io::Result<String> {
    for (seeing, blind) in BLINDFOLDS {
        if source.matches(seeing).count() != 1 {
            return Err(io::Error::other(format!(
                "the detector is no longer: {seeing}"
            )));
        }
        source = source.replace(seeing, blind);
    }
    Ok(source)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Quartiles of the rounds' ratios.
fn measure(folder: &Path) -> io::Result<Vec<f64>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--release"])
        .current_dir(folder.join("program"))
        // The builds must not share anything with this program's own.
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("TSC_REPORT", "off")
        .output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(why.into_owned()));
    }
    let figures = String::from_utf8_lossy(&output.stdout);
    Ok(figures
        .split_whitespace()
        .filter_map(|figure| figure.parse().ok())
        .collect())
}

/// Both take turns, and each goes first in half of the rounds.
const PROGRAM: &str = r#"
use std::hint::black_box;
use seeing::tsc::{Lfence, FencePolicy, elapsed};

#[seeing::cycles(crate = seeing)]
#[inline(never)]
fn with(value: u64) -> u64 { value }

#[blind::cycles(crate = blind)]
#[inline(never)]
fn without(value: u64) -> u64 { value }

fn ticks(function: fn(u64) -> u64) -> f64 {
    let function = black_box(function);
    let start = Lfence::start();
    let mut value = 1;
    for _ in 0..5_000 {
        value = function(value);
    }
    black_box(value);
    elapsed(start, Lfence::stop()) as f64
}

fn main() {
    let cpu = seeing::affinity::cpus().unwrap_or_default().last().copied();
    let _pinned = cpu.map(seeing::affinity::pin);
    let mut ratios: Vec<f64> = (0..801)
        .map(|round| {
            if round % 2 == 0 {
                let with = ticks(with);
                with / ticks(without)
            } else {
                let without = ticks(without);
                ticks(with) / without
            }
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("{} {} {}", ratios[200], ratios[400], ratios[600]);
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detector_has_the_checks_that_are_removed() {
        let source = fs::read_to_string(Path::new(REPOSITORY).join(DETECTOR)).unwrap();
        without_checks(source).unwrap();
    }
}
