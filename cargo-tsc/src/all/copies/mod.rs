//! The copies of a project: where they are, what is annotated in them, and how they are built.

mod cargo;
mod contents;
mod refused;
mod update;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use regex_lite::Regex;
use tsc_report::{CallsiteReport, Report};

use super::choice::Choice;
use super::dependencies::{Dependencies, OURS, Places, Wanted};
use super::known::{FileDigests, Known, Last};
use super::manifest::Runtime;
use super::outside::Outside;
use super::remembered::digest;
use super::unopened;
use crate::annotate::Probe;
use crate::build::{Built, CargoCommand, Executable, Measurement, Project, sharing, toolchain};
use crate::progress::pass_on;
use crate::session::Store;
use crate::sources::plain;
pub use refused::Refused;

/// The folder in that of the sessions that has the copies and what is built from them.
const ALL: &str = ".all";
/// The copy without attributes.
const BARE: &str = "bare";
/// The annotated copy.
const ANNOTATED: &str = "annotated";
/// The variables that choose what is measured.
const FILTERS: [&str; 2] = ["TSC_ONLY", "TSC_SKIP"];

/// The place of a function as a report names it: the file, relative to the workspace or absolute, and the line.
pub type Place = (PathBuf, u32);

/// The place of a row's function.
#[must_use]
pub fn place(row: &CallsiteReport) -> Place {
    (row.file().into(), row.line())
}

/// The folder of a project's copies and of what is built from them.
fn folder(project: &Project) -> PathBuf {
    Store::new(project.target()).folder().join(ALL)
}

/// The last choice of probes.
#[must_use]
pub fn last(project: &Project) -> Last {
    Last::read(&folder(project))
}

/// The functions and files of a project that did not compile with attributes in the last copies.
#[must_use]
pub fn refused(project: &Project) -> Refused {
    Refused::last(&folder(project))
}

/// The copies of a project.
#[derive(Debug)]
pub struct Copies<'a> {
    original: &'a Project,
    command: CargoCommand,
    /// The folder of the copies and of what is built from them.
    folder: PathBuf,
    /// The files that belong to the project and are not in it.
    outside: Outside,
    /// The folder in which cargo would be started in the original, relative to the workspace.
    inner: PathBuf,
    /// The names of the workspace members that the command builds.
    used: BTreeSet<String>,
    /// The dependencies that the user wants to be annotated.
    wanted: Option<Wanted>,
    /// What is copied for these.
    pub dependencies: Dependencies,
    /// The probes of functions, or `None` for no probe. All others get a light one.
    probes: BTreeMap<Place, Option<Probe>>,
    /// The functions whose probes can be chosen. Others have an attribute by hand that says more.
    offered: BTreeSet<Place>,
    /// The annotated files in the original.
    files: FileDigests,
    /// What does not compile with attributes.
    refused: Refused,
    /// What was said of files that are not annotated as others are.
    said: BTreeSet<String>,
    /// A digest of the sources that are annotated.
    sources: DefaultHasher,
    /// How many functions have a probe.
    pub attributes: usize,
    /// How many functions have a light one.
    pub light: usize,
    /// How many functions are too short for one.
    pub too_short: usize,
}

impl<'a> Copies<'a> {
    /// The copies of `original` for a command, with the dependencies that are wanted.
    ///
    /// # Errors
    /// If the project cannot be copied.
    pub fn new(
        original: &'a Project,
        command: &CargoCommand,
        wanted: Option<Wanted>,
    ) -> Result<Self> {
        let inner = original.here().strip_prefix(original.root());
        let inner = inner.map_or_else(|_| PathBuf::new(), Path::to_owned);
        let mut command = command.clone();
        command.options = command.without("--manifest-path");
        // The copy has one dependency more than its lock file.
        command.unlock();
        let folder = folder(original);
        Ok(Self {
            original,
            command,
            refused: Refused::last(&folder),
            folder,
            outside: Outside::new(original)?,
            inner,
            used: BTreeSet::new(),
            wanted,
            dependencies: Dependencies::default(),
            probes: BTreeMap::new(),
            offered: BTreeSet::new(),
            files: FileDigests::new(),
            said: BTreeSet::new(),
            sources: DefaultHasher::new(),
            attributes: 0,
            light: 0,
            too_short: 0,
        })
    }

    /// Uses these probes from now on.
    pub fn choose(&mut self, choice: &Choice) {
        let root = self.original.root();
        let mut set = |(file, line): &Place, probe| {
            self.probes.insert((plain(&root.join(file)), *line), probe);
        };
        for function in &choice.timed {
            set(&function.place, Some(Probe::Timed));
        }
        let left_out = choice.bare.iter().chain(&choice.inner);
        let left_out = left_out.map(|function| &function.place);
        for place in left_out.chain(&choice.filtered) {
            set(place, None);
        }
        for function in &choice.light {
            set(&function.place, Some(Probe::Light));
        }
    }

    /// Whether the function has a probe only because every function has one.
    #[must_use]
    pub fn can_leave_out(&self, (file, line): &Place) -> bool {
        let place = (plain(&self.original.root().join(file)), *line);
        self.offered.contains(&place)
    }

    /// What is said of the crates without probes that rows call.
    #[must_use]
    pub fn unopened(&self, report: &Report) -> Option<String> {
        let root = self.original.root();
        unopened::remark(report, root, &self.files, &self.dependencies.unopened)
    }

    /// The place for the choice of probes, and a digest of what it depends on. `only` is the user's filter.
    ///
    /// # Errors
    /// If a source cannot be read.
    pub fn known_choice(&mut self, runtime: &Runtime, only: Option<&Regex>) -> Result<Known> {
        self.replaced(runtime)?;
        self.command.hash(&mut self.sources);
        only.map(Regex::as_str).hash(&mut self.sources);
        FILTERS.map(std::env::var_os).hash(&mut self.sources);
        let of = self.sources.finish();
        Ok(Known::new(&self.folder, of, self.files.clone()))
    }

    /// Annotates the copy and builds it. Functions, files and dependencies that do not compile with attributes lose these.
    ///
    /// # Errors
    /// If the project cannot be copied or built.
    pub fn annotated(&mut self, runtime: &Runtime) -> Result<Vec<Executable>> {
        let title = if self.probes.is_empty() {
            "building with every function annotated"
        } else {
            "building with the probes that the runs before call for"
        };
        let refused_before = self.refused.clone();
        loop {
            let replaced = self.replaced(runtime)?;
            let copy = self.sync(ANNOTATED, &replaced)?;
            let prefixes = self.dependencies.prefixes(&self.folder);
            let environment = self.environment(&sharing::wrapper(0), &copy, "allow", prefixes);
            let project = Project::find(&self.command, &copy.join(&self.inner))?;
            let build = self.build(&project, "annotated-target", title, environment);
            match build.attempt()? {
                Ok(executables) => {
                    // Otherwise the attributes were not the reason.
                    self.refused.write()?;
                    self.dependencies.remember()?;
                    return Ok(executables);
                }
                Err(refusals) if self.refuse(&refusals, &copy)? => {}
                Err(refusals) if self.dependencies.leave_out(&refusals) => {
                    // Then the attributes in the project's own files may not have been the reason.
                    self.refused = refused_before.clone();
                }
                Err(refusals) => {
                    refusals.iter().for_each(|it| pass_on(&it.shown));
                    bail!("the build failed; the compiler's messages are above");
                }
            }
        }
    }

    /// Builds the copy without attributes. This comes before everything else, because here cargo is asked what the command builds, and it
    /// may write a lock file, which must not be in the original's folder. This copy depends on the runtime, too, and does not use it, because
    /// otherwise cargo could choose other versions and features of what both depend on, and would build it twice.
    ///
    /// # Errors
    /// If the project cannot be copied or built.
    pub fn bare(&mut self, runtime: &Runtime) -> Result<Vec<Executable>> {
        // A project that measures itself already has its own features of the runtime.
        let own = self
            .original
            .dependents(&self.original.metadata().workspace_members);
        let runtime = Some(runtime).filter(|_| own.is_empty());
        let copy = self.sync(BARE, &self.manifests(runtime)?)?;
        let project = self.find(&copy)?;
        let selection = project.select(&self.command)?;
        let used = project.members_used(&selection.packages);
        self.used = used
            .iter()
            .map(|id| project.package(id).name.to_string())
            .collect();
        let places = Places {
            all: &self.folder,
            asked: project.root(),
            annotated: &self.outside.copy(&self.folder, ANNOTATED),
            original: self.original.root(),
            with: self.decisive(&copy),
        };
        self.refused = Refused::read(&self.folder, places.with);
        let wanted = self.wanted.as_ref();
        let selected = &selection.packages;
        let asks_all = wanted == Some(&Wanted::All);
        let built = Built::find(&self.command, &project, selected, &OURS, asks_all)?;
        self.dependencies = Dependencies::find(&project, selected, &built, wanted, places)?;
        let wrapper = sharing::wrapper(1);
        let title = "building the same without measurement";
        let environment = self.environment(&wrapper, &copy, "warn", BTreeMap::new());
        let build = self.build(&project, "bare-target", title, environment);
        let executables = build.executables(Measurement::AsIs);
        let root = self.original.root().display();
        executables.with_context(|| format!("a copy of {root}, without what is outside of it"))
    }

    /// A digest of what decides, beside the sources, whether these compile: the toolchain, the features, and the versions of crates.
    fn decisive(&self, copy: &Path) -> u64 {
        let features = self.command.values("--features", Some("-F"));
        let others = ["--all-features", "--no-default-features"];
        let others = others.map(|option| self.command.has(&[option]));
        let lock = std::fs::read(copy.join("Cargo.lock")).ok();
        digest((toolchain(), features, others, lock))
    }
}
