//! Runs `cargo build`, and collects the executables.

use std::ffi::OsString;
use std::io::BufReader;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use cargo_metadata::{Artifact, BuildScript, CompilerMessage, Message, Package, PackageId};

use super::selection::cargo;
use super::variables::{of_package, of_programs, of_scripts};
use super::{CargoCommand, CargoVerb, Executable, Project, Selection, libraries};
use crate::git;
use crate::interrupt;
use crate::progress;

/// The variable for cargo's folder for intermediate files, if that is not the target folder.
const BUILD_DIR: &str = "CARGO_BUILD_BUILD_DIR";

/// The folder for intermediate files: `folder`, or its whole path in the user's own. Two projects never share one: cargo takes packages of the
/// same name for the same, so one that was built while another project waited would be measured in its place. Cargo before 1.91 ignores
/// this folder and uses the target folder.
fn intermediate(folder: &Path) -> PathBuf {
    let names = folder
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    match std::env::var_os(BUILD_DIR) {
        Some(common) => Path::new(&common).join(names.collect::<PathBuf>()),
        None => folder.to_owned(),
    }
}

/// Whether a build measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measurement {
    /// As the project's features determine.
    AsIs,
    /// In every profile.
    On,
}

/// A build.
#[derive(Debug)]
pub struct Build<'a> {
    /// The project.
    pub project: &'a Project,
    /// The command that determines what is built.
    pub command: &'a CargoCommand,
    /// The folder in which cargo is started.
    pub folder: &'a Path,
    /// The target folder, if it is not the project's own.
    pub target: Option<PathBuf>,
    /// The folder for intermediate files, if that is not the target folder. In a common one, cargo would take two copies of a package for
    /// the same package, and not build the second, unless their wrappers of rustc are different.
    pub intermediate: Option<PathBuf>,
    /// Additional environment variables for cargo, such as a wrapper of rustc.
    pub environment: Vec<(OsString, OsString)>,
    /// What is said of the build before cargo says anything.
    pub title: String,
}

/// A package that does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// The compiler's first error.
    pub error: String,
    /// The same as the compiler shows it.
    pub shown: String,
    /// The file and the line of the error, in the code that somebody has written.
    pub place: Option<(PathBuf, u32)>,
}

/// What cargo has built.
#[derive(Debug, Default)]
struct BuildResult {
    artifacts: Vec<Artifact>,
    scripts: Vec<BuildScript>,
    /// What the compiler refuses. It has been printed, and this is empty, unless cargo was asked for messages as data.
    refusals: Vec<Refusal>,
    is_complete: bool,
}

impl Build<'_> {
    /// Builds, and returns the executables to run.
    ///
    /// # Errors
    /// If cargo fails. Its messages have been printed.
    pub fn executables(&self, measurement: Measurement) -> Result<Vec<Executable>> {
        let selection = self.project.select(self.command)?;
        let mut command = self.cargo("json-render-diagnostics");
        command.args(&selection.target);
        if measurement == Measurement::On {
            self.turn_on(&mut command, &selection)?;
        }
        let built = self.run(command)?;
        if !built.is_complete {
            bail!("the build failed; cargo's messages are above");
        }
        self.to_run(&built, &selection)
    }

    /// Builds as much as possible, without what the project's features would add. Returns what does not compile, if there is anything, whose
    /// messages have not been printed.
    ///
    /// # Errors
    /// If cargo fails otherwise. Its messages have been printed.
    pub fn attempt(&self) -> Result<Result<Vec<Executable>, Vec<Refusal>>> {
        let selection = self.project.select(self.command)?;
        let mut command = self.cargo("json");
        command.args(&selection.target);
        if self.command.verb == CargoVerb::Run {
            command.arg("--keep-going");
        }
        let built = self.run(command)?;
        if built.is_complete {
            return self.to_run(&built, &selection).map(Ok);
        }
        if built.refusals.is_empty() {
            bail!("the build failed; cargo's messages are above");
        }
        Ok(Err(built.refusals))
    }

    fn to_run(&self, built: &BuildResult, selection: &Selection) -> Result<Vec<Executable>> {
        let artifacts = built.artifacts.iter();
        let mut executables: Vec<Executable> = artifacts
            .filter_map(|artifact| self.executable(artifact, built, selection))
            .collect();
        if executables.is_empty() {
            bail!("cargo built nothing that can be run");
        }
        let path = libraries::path(&built.artifacts, &built.scripts, self.command, self.folder);
        for executable in &mut executables {
            let path = path.iter().cloned();
            let variables = path.map(|path| (libraries::VARIABLE.to_owned(), path));
            executable.environment.extend(variables);
        }
        Ok(executables)
    }

    fn cargo(&self, messages: &str) -> Command {
        let mut command = cargo();
        command.current_dir(self.folder);
        match self.command.verb {
            CargoVerb::Run => command.arg("build"),
            CargoVerb::Test => command.args(["test", "--no-run"]),
            CargoVerb::Bench => command.args(["bench", "--no-run"]),
        };
        command.arg(format!("--message-format={messages}"));
        match self.target {
            None => command.args(&self.command.options),
            Some(_) => command.args(self.command.without("--target-dir")),
        };
        if let Some(target) = &self.target {
            command.arg("--target-dir").arg(target);
            let folder = intermediate(self.intermediate.as_ref().unwrap_or(target));
            // Not by the variable, which a build script that runs cargo would inherit: its cargo would wait for this one's lock.
            match folder.to_str() {
                Some(folder) => command.arg("--config").arg(format!(
                    "build.build-dir={}",
                    toml_edit::Value::from(folder)
                )),
                None => command.env(BUILD_DIR, folder),
            };
            git::leave_hook(&mut command);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        // Build scripts and macros may be annotated, too, but their figures are not wanted here.
        command.env("TSC_REPORT", "off");
        command
    }

    fn run(&self, mut command: Command) -> Result<BuildResult> {
        progress::remark(&self.title);
        progress::pass_to_cargo(&mut command);
        progress::announce(&command);
        // Cargo's own messages and the compiler's go to standard error as they come.
        command.stdout(Stdio::piped()).stdin(Stdio::null());
        interrupt::check()?;
        let mut child = command.spawn().context("cargo cannot be started")?;
        let passing = interrupt::pass_to(&child);
        let mut built = BuildResult::default();
        if let Some(stdout) = child.stdout.take() {
            for message in Message::parse_stream(BufReader::new(stdout)) {
                match message? {
                    Message::CompilerArtifact(artifact) => built.artifacts.push(artifact),
                    Message::BuildScriptExecuted(script) => built.scripts.push(script),
                    Message::CompilerMessage(message) => {
                        built.refusals.extend(self.refusal(message));
                    }
                    _ => {}
                }
            }
        }
        let status = child.wait()?;
        drop(passing);
        interrupt::check()?;
        built.is_complete = status.success();
        Ok(built)
    }

    fn package(&self, id: &PackageId) -> Option<&Package> {
        let mut packages = self.project.metadata().packages.iter();
        packages.find(|package| package.id == *id)
    }

    /// The package that the compiler refuses with this message.
    fn refusal(&self, message: CompilerMessage) -> Option<Refusal> {
        let is_error = matches!(
            message.message.level,
            DiagnosticLevel::Error | DiagnosticLevel::Ice
        );
        let package = self.package(&message.package_id)?;
        let folder = package.manifest_path.parent()?.as_std_path().to_owned();
        is_error.then(|| Refusal {
            folder,
            error: headline(&message.message),
            place: place(&message.message),
            shown: message.message.rendered.unwrap_or(message.message.message),
        })
    }

    fn executable(
        &self,
        artifact: &Artifact,
        built: &BuildResult,
        selection: &Selection,
    ) -> Option<Executable> {
        let path: PathBuf = artifact.executable.clone()?.into();
        let is_test = self.command.verb != CargoVerb::Run;
        // Cargo also builds the binaries that tests start.
        if artifact.profile.test != is_test && !(is_test && artifact.target.is_bench()) {
            return None;
        }
        let package = self.package(&artifact.package_id);
        let folder = package
            .and_then(|package| package.manifest_path.parent())
            .map(|folder| folder.as_std_path().to_owned());
        if package.is_some_and(|package| !selection.packages.contains(&package.id)) {
            return None;
        }
        let mut arguments = self.command.arguments.clone();
        if self.command.verb == CargoVerb::Bench {
            arguments.push("--bench".into());
        }
        let mut environment = package.map_or_else(Vec::new, of_package);
        environment.extend(of_scripts(&built.scripts, &artifact.package_id));
        if is_test {
            environment.extend(of_programs(&built.artifacts, &artifact.package_id));
        }
        Some(Executable {
            path,
            arguments,
            folder: folder.filter(|_| is_test),
            environment,
        })
    }
}

/// Where an error is: if it is in what a macro has written, where the macro was called.
fn place(error: &Diagnostic) -> Option<(PathBuf, u32)> {
    let mut span = error.spans.iter().find(|span| span.is_primary)?;
    while let Some(expansion) = &span.expansion {
        span = &expansion.span;
    }
    Some(((&span.file_name).into(), span.line_start as u32))
}

/// An error in one line: `error[E0308]: mismatched types`.
fn headline(error: &Diagnostic) -> String {
    let code = error.code.as_ref();
    let code = code.map_or_else(String::new, |code| format!("[{}]", code.code));
    let first = error.message.lines().next().unwrap_or_default();
    format!("error{code}: {first}")
}
