//! The project: which packages a command refers to, and which of them depend on `tsc-runtime`.

mod answers;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package, PackageId, TargetKind};

use super::command::CONFIG;
use super::{CargoCommand, CargoVerb};
use crate::sources::{on_disk, plain};
use answers::answer;
pub use answers::{cargo, said, toolchain};
use names::is_named;
pub use names::pattern;

/// Cargo's metadata about a project.
#[derive(Debug)]
pub struct Project {
    metadata: Metadata,
    here: PathBuf,
}

/// The part of a project that a command builds.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The packages that the command names or implies.
    pub packages: Vec<PackageId>,
    /// The options that make `cargo build` build what `cargo run` would run.
    pub target: Vec<OsString>,
}

/// The options that make cargo leave out dependencies of other platforms. Otherwise cargo would download these only to list them, which
/// fails without a network.
fn platforms(command: &CargoCommand) -> Vec<String> {
    let mut platforms = command.values("--target", None);
    if platforms.is_empty() {
        let mut lines = toolchain().lines();
        let host = lines.find_map(|line| line.strip_prefix("host: "));
        platforms.extend(host.map(OsString::from));
    }
    let platforms = platforms.iter().filter_map(|platform| platform.to_str());
    platforms
        .flat_map(|platform| ["--filter-platform".to_owned(), platform.to_owned()])
        .collect()
}

/// The options that say where cargo finds packages, and which.
fn sources(command: &CargoCommand) -> Vec<String> {
    let offline = ["--offline", "--locked", "--frozen"].into_iter();
    let offline = offline.filter(|option| command.has(&[option]));
    let mut options: Vec<String> = offline.map(str::to_owned).collect();
    for value in command.values(CONFIG, None) {
        options.extend([CONFIG.to_owned(), value.to_string_lossy().into_owned()]);
    }
    options
}

impl Project {
    /// Reads cargo's metadata about the project in `folder` that the command refers to.
    ///
    /// # Errors
    /// If there is no project, or cargo reports an error.
    pub fn find(command: &CargoCommand, folder: &Path) -> Result<Self> {
        let mut query = MetadataCommand::new();
        // All features are selected, because otherwise optional dependencies could be missing.
        query.features(CargoOpt::AllFeatures);
        Self::ask(query, command, folder, platforms(command))
    }

    /// Like [`find`](Self::find), but if cargo cannot list all dependencies, because one that is not built is missing and there is no network,
    /// does without them where a selected package depends on the runtime itself.
    ///
    /// # Errors
    /// Those of [`find`](Self::find).
    pub fn find_for_build(command: &CargoCommand, folder: &Path) -> Result<Self> {
        Self::find(command, folder).or_else(|error| {
            let members = Self::find_members(command, folder)?;
            let selected = members.packages(command)?;
            match members.dependents(&selected).is_empty() {
                true => Err(error),
                false => Ok(members),
            }
        })
    }

    /// Like [`find`](Self::find), but without the dependencies of the packages, for which cargo may write a lock file.
    ///
    /// # Errors
    /// Those of [`find`](Self::find).
    pub fn find_members(command: &CargoCommand, folder: &Path) -> Result<Self> {
        let mut query = MetadataCommand::new();
        query.no_deps();
        Self::ask(query, command, folder, Vec::new())
    }

    /// Updates packages in the lock file of the project in `folder`, and no others.
    ///
    /// # Errors
    /// If cargo reports an error.
    pub fn update(
        command: &CargoCommand,
        folder: &Path,
        packages: &BTreeSet<String>,
    ) -> Result<()> {
        let mut update = cargo();
        update.current_dir(folder).arg("update");
        update.args(sources(command)).args(packages);
        said(update).map(drop)
    }

    fn ask(
        mut query: MetadataCommand,
        command: &CargoCommand,
        folder: &Path,
        mut options: Vec<String>,
    ) -> Result<Self> {
        query.current_dir(folder);
        let mut manifest = None;
        if let Some(path) = command.values("--manifest-path", None).pop() {
            let path = std::path::absolute(folder.join(path))?;
            query.manifest_path(&path);
            manifest = Some(path);
        }
        options.extend(sources(command));
        query.other_options(options);
        let mut metadata = answer(&query)?;
        // Cargo names this folder as the user does, and a folder in which it is started without links and `..`.
        let target = on_disk(metadata.target_directory.as_std_path());
        if let Ok(target) = target.try_into() {
            metadata.target_directory = target;
        }
        let here = match manifest.as_deref().and_then(Path::parent) {
            Some(here) => plain(here),
            None => on_disk(folder),
        };
        Ok(Self { metadata, here })
    }

    /// Cargo's metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The folder in which cargo is started.
    #[must_use]
    pub fn here(&self) -> &Path {
        &self.here
    }

    /// The target folder.
    #[must_use]
    pub fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// The workspace's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// A package by its identity.
    #[must_use]
    pub fn package(&self, id: &PackageId) -> &Package {
        &self.metadata[id]
    }

    /// Determines what the command builds.
    ///
    /// # Errors
    /// If the command names a package that does not exist, or if it does not determine which of several binaries to run.
    pub fn select(&self, command: &CargoCommand) -> Result<Selection> {
        let packages = self.packages(command)?;
        let mut target = Vec::new();
        if command.verb == CargoVerb::Run
            && !command.has(&["--bin", "--example"])
            && command.values("--bin", None).is_empty()
            && command.values("--example", None).is_empty()
        {
            target = vec!["--bin".into(), self.binary(&packages)?.into()];
        }
        Ok(Selection { packages, target })
    }

    /// Whether cargo would run doc tests after these programs: rustdoc builds and runs them, and nothing here does.
    ///
    /// # Errors
    /// If the command names a package that does not exist.
    pub fn has_doc_tests(&self, command: &CargoCommand) -> Result<bool> {
        const TARGETS: [&str; 8] = [
            "--all-targets",
            "--benches",
            "--bins",
            "--examples",
            "--lib",
            "--tests",
            "--bench",
            "--test",
        ];
        let mut of_values = ["--bin", "--example", "--bench", "--test"].into_iter();
        let is_chosen = command.has(&TARGETS)
            || of_values.any(|option| !command.values(option, None).is_empty());
        if command.verb != CargoVerb::Test || is_chosen {
            return Ok(false);
        }
        let packages = self.packages(command)?;
        let mut targets = packages.iter().flat_map(|id| &self.package(id).targets);
        Ok(targets.any(|target| target.doctest && target.is_lib()))
    }

    fn packages(&self, command: &CargoCommand) -> Result<Vec<PackageId>> {
        let named = command.values("--package", Some("-p"));
        let members = self.metadata.workspace_packages();
        if command.has(&["--workspace", "--all"]) {
            let excluded = command.values("--exclude", None);
            let is_built = |package: &&&Package| {
                let mut excluded = excluded.iter().map(|spec| spec.to_string_lossy());
                !excluded.any(|spec| is_named(package, &spec))
            };
            let built = members.iter().filter(is_built);
            return Ok(built.map(|package| package.id.clone()).collect());
        }
        if named.is_empty() {
            let around = self.here.ancestors();
            let mut inner = around.take_while(|folder| *folder != self.root());
            let here = inner.find_map(|folder| {
                let is_in = |package: &&&Package| {
                    let own = package.manifest_path.parent();
                    own.is_some_and(|own| own.as_std_path() == folder)
                };
                members.iter().find(is_in)
            });
            return Ok(match here {
                Some(package) => vec![package.id.clone()],
                None => self
                    .metadata
                    .workspace_default_packages()
                    .iter()
                    .map(|package| package.id.clone())
                    .collect(),
            });
        }
        let mut packages = Vec::new();
        for spec in named {
            let spec = spec.to_string_lossy();
            let mut found = members.iter().filter(|it| is_named(it, &spec)).peekable();
            ensure!(
                found.peek().is_some(),
                "no package {spec} in this workspace"
            );
            packages.extend(found.map(|package| package.id.clone()));
        }
        Ok(packages)
    }

    /// The binary that `cargo run` would run.
    fn binary(&self, packages: &[PackageId]) -> Result<String> {
        let selected = || packages.iter().map(|id| self.package(id));
        let mut defaults = selected().filter_map(|package| package.default_run.as_ref());
        if let (Some(name), None) = (defaults.next(), defaults.next()) {
            return Ok(name.clone());
        }
        let mut all = Vec::new();
        for package in selected() {
            let binaries = package
                .targets
                .iter()
                .filter(|target| target.kind.contains(&TargetKind::Bin));
            all.extend(binaries.map(|target| target.name.clone()));
        }
        match all.len() {
            1 => Ok(all.remove(0)),
            0 => bail!(
                "no binary to run: name an example with --example, or measure `test` or `bench`"
            ),
            _ => bail!(
                "several binaries: say which with --bin; there are {}",
                all.join(", ")
            ),
        }
    }

    /// The workspace's packages from which the selected ones are built, including the selected ones.
    #[must_use]
    pub fn members_used(&self, selected: &[PackageId]) -> Vec<PackageId> {
        let nodes: BTreeMap<&PackageId, Vec<&PackageId>> = self
            .metadata
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes)
            .map(|node| (&node.id, node.dependencies.iter().collect()))
            .collect();
        let mut used: BTreeSet<&PackageId> = BTreeSet::new();
        let mut left: Vec<&PackageId> = selected.iter().collect();
        while let Some(id) = left.pop() {
            if used.insert(id) {
                left.extend(nodes.get(id).into_iter().flatten());
            }
        }
        let members = self.metadata.workspace_members.iter();
        members.filter(|id| used.contains(id)).cloned().collect()
    }
}

#[cfg(test)]
mod tests;
