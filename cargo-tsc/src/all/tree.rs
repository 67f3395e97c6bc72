//! The copy of a project: where it is, what is annotated in it, and how it is built.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{CrateType, Edition, TargetKind};

use super::choice::Choice;
use super::copy::{Replaced, sync, sync_lock};
use super::folder::Folder;
use super::manifest::{self, Runtime};
use super::outside::Outside;
use super::rustc;
use crate::annotate::{self, Function, Probe, Where};
use crate::build::{Build, CargoCommand, CargoVerb, Executable, Measurement, Project};
use crate::progress::remark;
use crate::sources::{Sources, plain, whole};

/// The folder in `target/tsc` of the copies and of what is built from them.
const ALL: &str = ".all";

/// The place of a function as a report names it: the file, relative to the workspace or absolute, and the line.
pub type Place = (PathBuf, u32);

/// A copy of a project.
#[derive(Debug)]
pub struct Tree<'a> {
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
    /// The probes of functions, or `None` for no probe. All others get a light one.
    probes: BTreeMap<Place, Option<Probe>>,
    /// How many functions have a probe.
    pub attributes: usize,
    /// How many functions have a light one.
    pub light: usize,
    /// How many functions are too short for one.
    pub too_short: usize,
}

impl<'a> Tree<'a> {
    /// The copy of `original` for a command that was given in the folder `here`.
    #[must_use]
    pub fn new(original: &'a Project, command: &CargoCommand, here: &Path) -> Self {
        let manifest = command.values("--manifest-path", None).pop();
        let here = match manifest {
            Some(path) => here
                .join(path)
                .parent()
                .map_or(here.to_owned(), Path::to_owned),
            None => here.to_owned(),
        };
        let inner = here
            .strip_prefix(original.root())
            .map_or_else(|_| PathBuf::new(), Path::to_owned);
        let mut command = command.clone();
        command.options = command.without("--manifest-path");
        // The copy has one dependency more than its lock file.
        command
            .options
            .retain(|option| option != "--locked" && option != "--frozen");
        Self {
            original,
            command,
            folder: original.target().join("tsc").join(ALL),
            outside: Outside::new(original),
            inner,
            used: BTreeSet::new(),
            probes: BTreeMap::new(),
            attributes: 0,
            light: 0,
            too_short: 0,
        }
    }

    /// Uses these probes from now on.
    pub fn choose(&mut self, choice: &Choice) {
        let root = self.original.root();
        let mut set = |(file, line): &Place, probe| {
            self.probes.insert((root.join(file), *line), probe);
        };
        for function in &choice.timed {
            set(&function.place, Some(Probe::Timed));
        }
        for function in &choice.bare {
            set(&function.place, None);
        }
    }

    /// Annotates the copy and builds it.
    ///
    /// # Errors
    /// If the project cannot be copied or built.
    pub fn annotated(&mut self, runtime: &Runtime) -> Result<Vec<Executable>> {
        let replaced = self.replaced(runtime)?;
        let copy = self.sync("annotated", &replaced)?;
        self.build(
            &copy,
            "annotated-target",
            "allow",
            "building with every function annotated",
            rustc::wrapper(),
        )
    }

    /// Builds the copy without attributes. This comes before everything else, because here cargo is asked what the command builds, and it
    /// may write a lock file, which must not be in the original's folder.
    ///
    /// # Errors
    /// If the project cannot be copied or built.
    pub fn bare(&mut self) -> Result<Vec<Executable>> {
        let copy = self.sync("bare", &self.manifests()?)?;
        let project = Project::find(&self.command, &copy.join(&self.inner))?;
        let selection = project.select(&self.command)?;
        let used = project.members_used(&selection.packages);
        self.used = used
            .iter()
            .map(|id| project.package(id).name.to_string())
            .collect();
        self.build(
            &copy,
            "bare-target",
            "warn",
            "building the same without measurement",
            rustc::other_wrapper().unwrap_or_else(rustc::wrapper),
        )
    }

    /// The path without `..` of a file in the project. `None` if the copy does not have the file: it is elsewhere, or reached through a link,
    /// which the copy has, too.
    fn place(&self, file: &Path) -> Option<PathBuf> {
        let root = self.original.root();
        let place = plain(file);
        let inner = place.strip_prefix(root).ok()?;
        (whole(file.to_owned()) == whole(root.to_owned()).join(inner)).then_some(place)
    }

    /// Updates the copy of this name, and returns its folder.
    fn sync(&self, name: &str, replaced: &Replaced) -> Result<PathBuf> {
        let root = self.original.root();
        let copy = self.outside.copy(&self.folder, name);
        let mut leave_out = vec![
            self.original.target().to_owned(),
            root.join("target"),
            root.join(".git"),
        ];
        if copy.starts_with(root) {
            // Cargo finds this folder from inside the copy anyway. With a second one, lists in its settings would be doubled.
            leave_out.push(root.join(".cargo"));
        }
        leave_out.push(root.join("Cargo.lock"));
        let context = || copy.display().to_string();
        let all = Folder::open(&self.original.target().join("tsc"), ALL).with_context(context)?;
        let folder = self.outside.open(&all, name).with_context(context)?;
        sync(root, &folder, &leave_out, replaced)?;
        sync_lock(root, &folder, &all, OsStr::new(name)).with_context(context)?;
        // Build scripts may ask git for the version.
        let git = root.join(".git");
        if git.is_dir() {
            let text = format!("gitdir: {}\n", git.display());
            folder.write(OsStr::new(".git"), text.as_bytes(), None)?;
        }
        Ok(copy)
    }

    fn build(
        &self,
        copy: &Path,
        target: &str,
        lints: &str,
        title: &str,
        wrapper: PathBuf,
    ) -> Result<Vec<Executable>> {
        let folder = copy.join(&self.inner);
        let project = Project::find(&self.command, &folder)?;
        let target = self.folder.join(target);
        let shared = self.folder.join("build");
        let mut environment = rustc::environment(&wrapper, copy, self.original.root(), lints);
        environment.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        let build = Build {
            project: &project,
            command: &self.command,
            folder: &folder,
            target: Some(&target),
            intermediate: self.can_share().then_some(&*shared),
            environment,
            title: title.to_owned(),
        };
        build.executables(Measurement::AsIs)
    }

    /// Whether both copies can be built in one folder, so that their common dependencies are built once. The wrapper makes the difference
    /// between the copies' own packages, and cargo shows it in the names of files, except those of dynamic libraries and of programs on
    /// Windows. In these cases one copy's file would replace the other's, so each copy has a folder of its own.
    fn can_share(&self) -> bool {
        let members = self.original.metadata().workspace_packages();
        let mut targets = members.iter().flat_map(|package| &package.targets);
        let is_dynamic = |kind: &CrateType| matches!(kind, CrateType::DyLib | CrateType::CDyLib);
        cfg!(unix)
            && rustc::other_wrapper().is_some()
            && !targets.any(|target| target.crate_types.iter().any(is_dynamic))
    }

    /// The manifests that must be different in a copy.
    fn manifests(&self) -> Result<Replaced> {
        let root = self.original.root();
        let mut replaced = Replaced::new();
        let members = self.original.metadata().workspace_packages();
        let manifests = members
            .iter()
            .map(|package| package.manifest_path.clone().into_std_path_buf());
        for path in manifests.chain([root.join("Cargo.toml")]) {
            let context = || path.display().to_string();
            if replaced.contains_key(&path) {
                continue;
            }
            let text = fs::read_to_string(&path).with_context(context)?;
            let folder = path.parent().unwrap_or(root);
            let mut text = manifest::with_paths(&text, folder, root).with_context(context)?;
            if folder == root {
                text = manifest::as_root(&text).with_context(context)?;
            }
            replaced.insert(path, text.into_bytes());
        }
        Ok(replaced)
    }

    /// The manifests with the runtime, and the annotated sources.
    fn replaced(&mut self, runtime: &Runtime) -> Result<Replaced> {
        let mut replaced = self.manifests()?;
        (self.attributes, self.light, self.too_short) = (0, 0, 0);
        let with_examples = self.command.verb != CargoVerb::Run
            || self.command.values("--example", None) != [""; 0];
        let members = self.original.metadata().workspace_packages();
        let sources = Sources::new(&members);
        for package in members {
            if !self.used.contains(package.name.as_str()) {
                continue;
            }
            let is_macro = package
                .targets
                .iter()
                .any(|target| target.kind.contains(&TargetKind::ProcMacro));
            let path = package.manifest_path.clone().into_std_path_buf();
            if is_macro || !path.starts_with(self.original.root()) {
                continue;
            }
            if let Some(text) = replaced.get(&path) {
                let text = manifest::with_runtime(&String::from_utf8_lossy(text), runtime)?;
                replaced.insert(path, text.into_bytes());
            }
            for file in sources.of(package, with_examples)? {
                let Some(place) = self.place(&file) else {
                    remark(&format!(
                        "{}: not measured, because it is outside of the project or reached through a symbolic link",
                        file.display()
                    ));
                    continue;
                };
                let source =
                    fs::read_to_string(&file).with_context(|| file.display().to_string())?;
                let probe = |function: &Function| {
                    let chosen = self.probes.get(&(file.clone(), function.line));
                    chosen.copied().unwrap_or(Some(Probe::Light))
                };
                match annotate::annotate_each(&source, Where::Worthwhile, &probe) {
                    Ok(annotated) => {
                        self.attributes += annotated.attributes;
                        self.light += annotated.light;
                        self.too_short += annotated.too_short;
                        let mut text = annotated.text;
                        let is_root = package.targets.iter().any(|target| target.src_path == file);
                        if package.edition == Edition::E2015 && is_root {
                            // In the 2015 edition, a path that begins with `::` begins at the root of the crate itself. The line is added
                            // at the end, so that no line moves.
                            text.push_str("\nextern crate tsc_runtime;\n");
                        }
                        replaced.insert(place, text.into_bytes());
                    }
                    Err(error) => remark(&format!("{}: left as it is: {error}", file.display())),
                }
            }
        }
        Ok(replaced)
    }
}
