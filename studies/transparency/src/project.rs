//! A copy of another project's crate, annotated or not, and its tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, io};

use cargo_tsc::annotate::{Probe, Where, annotate};

/// The results of a crate's tests.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The names in order. A name occurs as often as there are test binaries with it.
    pub passed: Vec<String>,
    pub failed: Vec<String>,
    pub took: Duration,
    /// Empty if the crate could be built.
    pub build_errors: String,
}

/// A crate that can be built.
pub struct Project {
    dir: PathBuf,
    /// The copy of a crate that has tests for this one.
    tests: Option<PathBuf>,
    pub attributes: usize,
}

impl Project {
    /// Copies `source` to `dir`, and annotates the copy's `src`.
    pub fn copy(source: &Path, dir: &Path, place: Option<Where>) -> io::Result<Self> {
        copy_alone(source, dir)?;
        let manifest = dir.join("Cargo.toml");
        let mut text = fs::read_to_string(&manifest)?;
        let mut attributes = 0;
        if let Some(place) = place {
            text.push_str(&dependency());
            attributes = annotate_dir(&dir.join("src"), place)?;
        }
        fs::write(manifest, text)?;
        let _ = fs::remove_file(dir.join("Cargo.lock"));
        Ok(Self {
            dir: dir.to_owned(),
            tests: None,
            attributes,
        })
    }

    /// Copies the crate in `source` to `dir`. The only changes: it depends on this copy of crate `name`, and on `also`, a dependency of its
    /// tests that is missing in the published crate.
    pub fn test_by(&mut self, source: &Path, dir: &Path, name: &str, also: &str) -> io::Result<()> {
        let copy = Self::copy(source, dir, None)?;
        let manifest = copy.dir.join("Cargo.toml");
        let mut text = fs::read_to_string(&manifest)?;
        text.push_str(&format!(
            "\n[dev-dependencies.{also}]\nversion = \"*\"\n\n[patch.crates-io.{name}]\npath = {:?}\n",
            self.dir
        ));
        // Cargo uses only the patches and profiles of the manifest with which it is started.
        if self.attributes > 0 {
            text.push_str(PROFILE);
        }
        fs::write(manifest, text)?;
        self.tests = Some(copy.dir);
        Ok(())
    }

    /// Runs the crate's tests: those in `src`, those beside it and in the other crate and, if asked to, the examples in its documentation.
    pub fn test(&self, release: bool, doc: bool, target: &Path) -> io::Result<Outcome> {
        let mut outcome = Outcome::default();
        let kinds: &[&str] = if doc { &[] } else { &["--lib", "--tests"] };
        run_tests(&self.dir, kinds, release, target, &mut outcome)?;
        if let Some(tests) = &self.tests {
            let kinds = ["--lib", "--tests", "--all-features"];
            run_tests(tests, &kinds, release, target, &mut outcome)?;
        }
        outcome.passed.sort_unstable();
        outcome.failed.sort_unstable();
        Ok(outcome)
    }
}

fn run_tests(
    dir: &Path,
    kinds: &[&str],
    release: bool,
    target: &Path,
    outcome: &mut Outcome,
) -> io::Result<()> {
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.current_dir(dir).env("CARGO_TARGET_DIR", target);
        command.env("TSC_REPORT", "off").args(["test", "--quiet"]);
        if release {
            command.arg("--release");
        }
        command.args(kinds).args(arguments).output()
    };
    let build = cargo(&["--no-run"])?;
    if !build.status.success() {
        outcome.build_errors += &String::from_utf8_lossy(&build.stderr);
        return Ok(());
    }
    let start = Instant::now();
    let run = cargo(&["--no-fail-fast", "--", "--format=pretty"])?;
    outcome.took += start.elapsed();
    let text = String::from_utf8_lossy(&run.stdout);
    outcome.passed.extend(named(&text, "ok"));
    outcome.failed.extend(named(&text, "FAILED"));
    Ok(())
}

/// The tests whose line ends in `verdict`.
fn named(text: &str, verdict: &str) -> impl Iterator<Item = String> {
    let name = move |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(verdict)?;
        name.strip_suffix(" ... ").map(str::to_owned)
    };
    text.lines().filter_map(name)
}

/// Makes the copy independent of any workspace whose folder contains it.
pub fn stand_alone(manifest: &mut String) {
    if !manifest.contains("\n[workspace]") {
        manifest.push_str("\n[workspace]\n");
    }
}

/// Copies a project to `to`, where it is independent of any workspace.
pub fn copy_alone(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    copy_dir(from, to)?;
    let manifest = to.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    stand_alone(&mut text);
    fs::write(&manifest, text)
}

/// The profile that the documentation of tsc-runtime advises.
const PROFILE: &str = "\n[profile.dev.package.tsc-core]\nopt-level = 3\n";

/// The lines that a copy's manifest needs so that its functions can be annotated.
pub fn dependency() -> String {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tsc-runtime");
    format!(
        "\n[dependencies.tsc-runtime]\npath = {runtime:?}\nfeatures = [\"release-builds\"]\n{PROFILE}"
    )
}

fn annotate_dir(dir: &Path, place: Where) -> io::Result<usize> {
    let mut attributes = 0;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            attributes += annotate_dir(&path, place)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            match annotate(&fs::read_to_string(&path)?, place, &|_| Some(Probe::Timed)) {
                Ok(annotated) => {
                    fs::write(&path, annotated.text)?;
                    attributes += annotated.attributes;
                }
                Err(error) => eprintln!("{}: left as it is: {error}", path.display()),
            }
        }
    }
    Ok(attributes)
}

/// Copies a folder and all in it.
pub fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
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
