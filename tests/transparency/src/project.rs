//! A copy of somebody's crate, annotated or not, and its tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::annotate::{Where, annotate};

/// What became of a crate's unit tests.
#[derive(Debug)]
pub struct Outcome {
    pub passed: BTreeSet<String>,
    pub failed: BTreeSet<String>,
    pub took: Duration,
    /// Empty where it builds.
    pub build_errors: String,
}

/// A crate that can be built.
pub struct Project {
    pub dir: PathBuf,
    pub attributes: usize,
}

impl Project {
    /// Copies `source` to `dir`, and annotates the copy's `src`.
    pub fn copy(source: &Path, dir: &Path, place: Option<Where>) -> io::Result<Self> {
        if dir.exists() {
            fs::remove_dir_all(dir)?;
        }
        copy_dir(source, dir)?;
        let manifest = dir.join("Cargo.toml");
        let mut text = fs::read_to_string(&manifest)?;
        if !text.contains("\n[workspace]") {
            text.push_str("\n[workspace]\n");
        }
        let mut attributes = 0;
        if let Some(place) = place {
            text.push_str(&dependency());
            attributes = annotate_dir(&dir.join("src"), place)?;
        }
        fs::write(manifest, text)?;
        let _ = fs::remove_file(dir.join("Cargo.lock"));
        Ok(Self {
            dir: dir.to_owned(),
            attributes,
        })
    }

    /// Runs the crate's tests: those in `src`, those beside it and, if asked to, the examples in its documentation.
    pub fn test(&self, release: bool, doc: bool, target: &Path) -> io::Result<Outcome> {
        let cargo = |arguments: &[&str]| {
            let mut command = Command::new("cargo");
            command
                .current_dir(&self.dir)
                .env("CARGO_TARGET_DIR", target);
            command.env("TSC_REPORT", "off").args(["test", "--quiet"]);
            if release {
                command.arg("--release");
            }
            if !doc {
                command.args(["--lib", "--tests"]);
            }
            command.args(arguments).output()
        };
        let build = cargo(&["--no-run"])?;
        if !build.status.success() {
            let build_errors = String::from_utf8_lossy(&build.stderr).into_owned();
            return Ok(Outcome {
                passed: BTreeSet::new(),
                failed: BTreeSet::new(),
                took: Duration::ZERO,
                build_errors,
            });
        }
        let start = Instant::now();
        let run = cargo(&["--no-fail-fast", "--", "--format=pretty"])?;
        let took = start.elapsed();
        let text = String::from_utf8_lossy(&run.stdout);
        Ok(Outcome {
            passed: named(&text, "ok"),
            failed: named(&text, "FAILED"),
            took,
            build_errors: String::new(),
        })
    }
}

/// The tests whose line ends in `verdict`.
fn named(text: &str, verdict: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| {
            line.strip_prefix("test ")?
                .strip_suffix(verdict)?
                .strip_suffix(" ... ")
        })
        .map(str::to_owned)
        .collect()
}

fn dependency() -> String {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tsc-runtime");
    format!("\n[dependencies.tsc-runtime]\npath = {runtime:?}\nfeatures = [\"release-builds\"]\n")
}

fn annotate_dir(dir: &Path, place: Where) -> io::Result<usize> {
    let mut attributes = 0;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            attributes += annotate_dir(&path, place)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            match annotate(&fs::read_to_string(&path)?, place) {
                Ok((text, added)) => {
                    fs::write(&path, text)?;
                    attributes += added;
                }
                Err(error) => eprintln!("{}: left as it is: {error}", path.display()),
            }
        }
    }
    Ok(attributes)
}

fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_dir(&path, &target)?;
        } else {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}
