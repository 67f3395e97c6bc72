//! Which packages use which, as cargo has resolved it.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{Dependency, DependencyKind, Node, NodeDep, Package, PackageId, TargetKind};

use super::copied::inside;
use crate::all::rustc::ORIGINAL;
use crate::build::{Built, Project};

/// The packages of a project, and those that the program consists of.
pub struct Graph<'a> {
    project: &'a Project,
    nodes: BTreeMap<&'a PackageId, &'a Node>,
    built: &'a Built,
    /// What would be compiled into the program and its tests with all features, which is what the lock file has: neither macros, nor what only
    /// they and build scripts use.
    possible: BTreeSet<&'a PackageId>,
    /// This, and what would be built for it, without what only measuring depends on.
    all: BTreeSet<&'a PackageId>,
}

/// The crates that measuring itself consists of.
pub const OURS: [&str; 4] = ["tsc-attr", "tsc-core", "tsc-report", "tsc-runtime"];

impl<'a> Graph<'a> {
    /// The graph of a project of which the selected packages are built.
    #[must_use]
    pub fn new(project: &'a Project, selected: &'a [PackageId], built: &'a Built) -> Self {
        let nodes = project
            .metadata()
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes);
        let mut graph = Self {
            project,
            nodes: nodes.map(|node| (&node.id, node)).collect(),
            built,
            possible: BTreeSet::new(),
            all: BTreeSet::new(),
        };
        let is_ours = |id: &PackageId| OURS.contains(&project.package(id).name.as_str());
        let mut left: Vec<&PackageId> = selected.iter().collect();
        while let Some(id) = left.pop() {
            let package = project.package(id);
            if !is_macro(package) && !is_ours(id) && graph.possible.insert(id) {
                left.extend(graph.uses(id));
            }
        }
        left.extend(&project.metadata().workspace_members);
        while let Some(id) = left.pop() {
            if !is_ours(id) && graph.all.insert(id) {
                left.extend(graph.deps(id).map(|dep| &dep.pkg));
            }
        }
        graph
    }

    /// All packages that are not the workspace's own.
    pub fn dependencies(&self) -> impl Iterator<Item = &'a Package> {
        let members = &self.project.metadata().workspace_members;
        let packages = self.project.metadata().packages.iter();
        packages.filter(|package| self.all.contains(&package.id) && !members.contains(&package.id))
    }

    /// The workspace's own packages.
    #[must_use]
    pub fn members(&self) -> Vec<&'a Package> {
        self.project.metadata().workspace_packages()
    }

    /// What is compiled into the program.
    pub fn in_program(&self) -> impl Iterator<Item = &'a PackageId> {
        let possible = self.possible.iter().copied();
        possible.filter(|id| self.is_in_program(id))
    }

    /// Whether the package is the workspace's own.
    #[must_use]
    pub fn is_member(&self, id: &PackageId) -> bool {
        self.project.metadata().workspace_members.contains(id)
    }

    /// Whether the package is compiled into the program.
    #[must_use]
    pub fn is_in_program(&self, id: &PackageId) -> bool {
        self.possible.contains(id) && self.built.is_in_program(self.package(id))
    }

    /// Whether the command builds the package, be it for the program or for what builds it.
    #[must_use]
    pub fn is_built(&self, id: &PackageId) -> bool {
        self.built.has(self.package(id))
    }

    /// What the package, its tests and its build script use.
    fn deps(&self, id: &PackageId) -> impl Iterator<Item = &'a NodeDep> {
        let node = self.nodes.get(id).copied();
        node.into_iter().flat_map(|node| &node.deps)
    }

    /// What the package's own code uses. Tests count only for the workspace's packages, for which alone cargo builds them.
    pub fn uses(&self, id: &PackageId) -> impl Iterator<Item = &'a PackageId> {
        self.names(id).map(|(_, used)| used)
    }

    /// The same, with the names that the code has for them.
    pub fn names(&self, id: &PackageId) -> impl Iterator<Item = (&'a str, &'a PackageId)> {
        self.deps(id)
            .filter(|dep| {
                let mut kinds = dep.dep_kinds.iter();
                kinds.any(|info| info.kind != DependencyKind::Build)
            })
            .map(|dep| (dep.name.as_str(), &dep.pkg))
    }

    /// The package to which a dependency in a manifest has been resolved. `None` if it is not enabled.
    #[must_use]
    pub fn target(&self, id: &PackageId, dependency: &Dependency) -> Option<&'a PackageId> {
        let mut found: Vec<_> = self
            .deps(id)
            .filter(|dep| {
                let mut kinds = dep.dep_kinds.iter();
                self.project.package(&dep.pkg).name == dependency.name
                    && kinds.any(|info| info.kind == dependency.kind)
            })
            .collect();
        if found.len() > 1 {
            // Two versions of a package under two names.
            found.retain(|dep| {
                let version = &self.project.package(&dep.pkg).version;
                dependency.req.matches(version)
            });
        }
        found.first().map(|dep| &dep.pkg)
    }

    /// The name for what a build script uses, if the package's code uses a copy of it under the name in the manifest.
    #[must_use]
    pub fn name_of_original(&self, package: &Package, dependency: &Dependency) -> Option<String> {
        let is_same = |other: &&Dependency| {
            other.kind != DependencyKind::Build && name(other) == name(dependency)
        };
        let used = self.target(&package.id, dependency)?;
        let is_script = dependency.kind == DependencyKind::Build;
        let (name, _) = self.names(&package.id).find(|of| of.1 == used)?;
        let is_renamed = is_script
            && !is_single(self.package(used))
            && package.dependencies.iter().any(|other| is_same(&other));
        is_renamed.then(|| format!("{ORIGINAL}{name}"))
    }

    /// These packages, and those outside of the workspace through which the program uses them. Of a package of which there may be only one, the
    /// lock file may not have the original, either, so the users that are not built are among them.
    #[must_use]
    pub fn with_users(&self, chosen: &BTreeSet<PackageId>) -> BTreeSet<PackageId> {
        let mut all = self.with_users_in(chosen, &|id| self.is_in_program(id));
        let single = all.iter().filter(|id| is_single(self.package(id)));
        let single = single.cloned().collect();
        all.extend(self.with_users_in(&single, &|id| self.possible.contains(id)));
        all
    }

    /// These packages, and those outside of the workspace that use them and for which `is_there` holds. Of a git repository, all are taken if
    /// one is, because they refer to each other by paths.
    fn with_users_in(
        &self,
        chosen: &BTreeSet<PackageId>,
        is_there: &dyn Fn(&PackageId) -> bool,
    ) -> BTreeSet<PackageId> {
        let mut all = chosen.clone();
        loop {
            let before = all.len();
            let sources: BTreeSet<String> =
                all.iter().filter_map(|id| self.repository(id)).collect();
            let more = self.dependencies().filter(|package| {
                let is_beside = || {
                    let source = self.repository(&package.id);
                    source.is_some_and(|source| sources.contains(&source))
                };
                is_there(&package.id)
                    && (self.uses(&package.id).any(|used| all.contains(used)) || is_beside())
            });
            let more: Vec<PackageId> = more.map(|package| package.id.clone()).collect();
            all.extend(more);
            if all.len() == before {
                return all;
            }
        }
    }

    /// Of these packages, those that cannot be copied: there may be only one of each in a build, and what runs in the compiler, or is only in
    /// other programs, keeps the originals of what it uses.
    #[must_use]
    pub fn doubled(&self, copied: &BTreeSet<PackageId>) -> BTreeSet<&'a PackageId> {
        let root = self.project.root();
        let is_copied = |id: &PackageId| copied.contains(id);
        let mut seen = BTreeSet::new();
        let members = self.project.metadata().workspace_members.iter();
        let mut left: Vec<_> = members.map(|id| (id, false)).collect();
        while let Some((id, is_copy)) = left.pop() {
            if !seen.insert((id, is_copy)) {
                continue;
            }
            let uses_copies = is_copy || self.is_member(id) && !is_macro(self.package(id));
            let deps = self.deps(id);
            for (dep, info) in deps.flat_map(|dep| dep.dep_kinds.iter().map(move |it| (dep, it))) {
                let package = self.package(&dep.pkg);
                let is_script = info.kind == DependencyKind::Build;
                let is_used = uses_copies && (!is_script || is_copy && is_single(package));
                let is_copy = is_copied(&dep.pkg) && (is_used || inside(package, root).is_some());
                left.push((&dep.pkg, is_copy));
            }
        }
        let originals = seen.into_iter().filter(|(_, is_copy)| !is_copy);
        originals
            .map(|(id, _)| id)
            .filter(|id| is_copied(id) && is_single(self.package(id)))
            .collect()
    }

    /// The git repository of a package.
    fn repository(&self, id: &PackageId) -> Option<String> {
        let source = self.project.package(id).source.as_ref()?;
        source.repr.starts_with("git+").then(|| source.repr.clone())
    }

    /// A package by its identity.
    #[must_use]
    pub fn package(&self, id: &PackageId) -> &'a Package {
        self.project.package(id)
    }
}

/// The name of a dependency in the manifest.
pub fn name(dependency: &Dependency) -> &String {
    dependency.rename.as_ref().unwrap_or(&dependency.name)
}

/// The name and the version of a package, as messages have them.
pub fn with_version(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

/// Whether there may be only one of the package in a build: it links a library, or is in a folder, and a lock file tells folders apart by name
/// and version alone.
#[must_use]
pub fn is_single(package: &Package) -> bool {
    package.links.is_some() || package.source.is_none()
}

/// Whether the package is a macro, which runs in the compiler.
#[must_use]
pub fn is_macro(package: &Package) -> bool {
    let mut targets = package.targets.iter();
    targets.any(|target| target.kind.contains(&TargetKind::ProcMacro))
}
