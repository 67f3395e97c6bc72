//! What annotations cost the build: a crate of 500 functions, and one of a single function with nothing built yet.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs, process};

use super::machine::version;
use super::spread::{Spread, cell};

const FUNCTIONS: usize = 500;
const BUILDS: usize = 3;

/// How a peer is put on 500 functions.
struct Form {
    label: &'static str,
    /// Names of crates, each with features; of this crate, the path.
    dependencies: &'static [(&'static str, &'static [&'static str])],
    /// Stands before each function.
    attribute: &'static str,
    /// Stands first in each.
    statement: &'static str,
}

const FORMS: [Form; 8] = [
    Form {
        label: "bare",
        dependencies: &[],
        attribute: "",
        statement: "",
    },
    Form {
        label: "**cycles**",
        dependencies: &[("tsc-runtime", &["release-builds"])],
        attribute: "#[tsc_runtime::cycles]",
        statement: "",
    },
    Form {
        label: "hotpath",
        dependencies: &[("hotpath", &["hotpath"])],
        attribute: "#[hotpath::measure]",
        statement: "",
    },
    Form {
        label: "tracing + tracing-timing",
        dependencies: &[
            ("tracing", &[]),
            ("tracing-subscriber", &["registry"]),
            ("tracing-timing", &[]),
        ],
        attribute: "#[tracing::instrument(skip_all)]",
        statement: "",
    },
    Form {
        label: "fastrace",
        dependencies: &[("fastrace", &["enable"])],
        attribute: "#[fastrace::trace]",
        statement: "",
    },
    Form {
        label: "puffin",
        dependencies: &[("puffin", &[])],
        attribute: "",
        statement: "puffin::profile_function!();",
    },
    Form {
        label: "time-graph",
        dependencies: &[("time-graph", &[])],
        attribute: "#[time_graph::instrument]",
        statement: "",
    },
    Form {
        label: "coarse-prof",
        dependencies: &[("coarse-prof", &[])],
        attribute: "",
        statement: "coarse_prof::profile!(\"f\");",
    },
];

pub(crate) fn print() {
    println!("### Building\n");
    println!(
        "A crate of {FUNCTIONS} functions whose dependencies are built: release build and check, in s; bytes of the stripped program that each \
         function adds. Dependencies, all in all, and the release build of a crate of one function with nothing built yet, in s.\n"
    );
    println!("| | build | check | bytes a function | dependencies | clean build |");
    println!("|---|---|---|---|---|---|");
    for form in &FORMS {
        match Project::new(form).and_then(|project| project.row()) {
            Ok(row) => println!("| {} | {row} |", form.label),
            Err(why) => println!(
                "| {} | does not build here: {why} |  |  |  |  |",
                form.label
            ),
        }
    }
    println!();
}

/// A crate that goes when it is dropped.
struct Project<'a> {
    form: &'a Form,
    path: PathBuf,
}

impl<'a> Project<'a> {
    fn new(form: &'a Form) -> Result<Self, String> {
        let name: String = form
            .label
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let path = env::temp_dir().join(format!("peers-build-{}-{name}", process::id()));
        let project = Self { form, path };
        write(&project.path.join("Cargo.toml"), &project.manifest())?;
        Ok(project)
    }

    fn manifest(&self) -> String {
        let mut text = "[package]\nname = \"annotated\"\nedition = \"2024\"\n[workspace]\n[profile.release]\nstrip = true\n[dependencies]\n".to_owned();
        for (name, features) in self.form.dependencies {
            let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tsc-runtime");
            let source = match *name {
                "tsc-runtime" => format!("path = {runtime:?}"),
                _ => format!("version = \"={}\"", version(name)),
            };
            text += &format!("{name} = {{ {source}, features = {features:?} }}\n");
        }
        text
    }

    fn row(&self) -> Result<String, String> {
        self.source(1)?;
        self.cargo(&["fetch"])?;
        let clean = self.cargo(&["build", "--release"])?;
        let one = self.size()?;
        self.cargo(&["check"])?;
        let [mut builds, mut checks] = [const { Vec::new() }; 2];
        for _ in 0..BUILDS {
            self.source(FUNCTIONS)?;
            builds.push(self.cargo(&["build", "--release"])?);
            checks.push(self.cargo(&["check"])?);
        }
        let bytes = (self.size()? - one) / (FUNCTIONS - 1) as f64;
        let [build, check] = [builds, checks].map(|times| cell(Spread::of(times), 2));
        Ok(format!(
            "{build} | {check} | {bytes:.0} | {} | {clean:.1}",
            self.dependencies()?
        ))
    }

    /// Functions that do a little, differ, and are all called.
    fn source(&self, count: usize) -> Result<(), String> {
        let Form {
            attribute,
            statement,
            ..
        } = self.form;
        let mut text = String::new();
        for number in 0..count {
            text += &format!(
                "{attribute}\n#[inline(never)]\nfn f{number}(a: u64, b: &str) -> u64 {{\n    {statement}\n    \
                 a.wrapping_mul({number} + 3) + b.len() as u64\n}}\n"
            );
        }
        text += "fn main() {\n    let mut a = std::env::args().count() as u64;\n";
        for number in 0..count {
            text += &format!("    a ^= f{number}(a, \"{number}\");\n");
        }
        write(
            &self.path.join("src/main.rs"),
            &(text + "    println!(\"{a}\");\n}\n"),
        )
    }

    /// Seconds.
    fn cargo(&self, arguments: &[&str]) -> Result<f64, String> {
        let began = Instant::now();
        let output = self
            .command(arguments)
            .stdout(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let elapsed = began.elapsed().as_secs_f64();
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors
            .lines()
            .find(|line| line.starts_with("error"))
            .unwrap_or("cargo failed")
            .to_owned();
        output.status.success().then_some(elapsed).ok_or(first)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(arguments)
            .current_dir(&self.path)
            .env("CARGO_TARGET_DIR", self.path.join("target"));
        command
    }

    fn size(&self) -> Result<f64, String> {
        let program = self.path.join("target/release/annotated");
        fs::metadata(program)
            .map(|file| file.len() as f64)
            .map_err(|error| error.to_string())
    }

    fn dependencies(&self) -> Result<usize, String> {
        let tree = self
            .command(&[
                "tree",
                "--edges",
                "normal,build",
                "--prefix",
                "none",
                "--no-dedupe",
            ])
            .output();
        let tree = tree.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&tree.stdout);
        let crates: HashSet<_> = text
            .lines()
            .filter_map(|line| line.split(" (").next())
            .filter(|line| !line.is_empty())
            .collect();
        Ok(crates.len() - 1)
    }
}

impl Drop for Project<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let directory = path.parent().expect("a file is in a directory");
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}
