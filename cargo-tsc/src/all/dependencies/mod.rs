//! Crates that are not the workspace's own. Those that the user names are copied and annotated. So that all crates see the same types, those
//! that use them are copied, too. Every copy is put in by its path, so the versions stay those of the lock file, and what runs in the
//! compiler, and measuring itself, keeps the originals.

mod allocator;
mod choose;
mod copied;
mod graph;
mod left_out;
mod manifest;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{Dependency, DependencyKind, Package, PackageId};

pub use choose::Wanted;
pub use copied::{Copied, Places, is_workspace};
use copied::{CopiedFolder, WITH};
use graph::Graph;
pub use graph::{OURS, is_macro};
use left_out::LeftOut;

use super::copy::{self, Replaced, sync};
use super::folder::Folder;
use super::manifest::Moved;
use super::unopened::Unopened;
use super::written::Written;
use crate::build::{Built, Project, Refusal};

/// The crates that are copied.
#[derive(Debug, Default)]
pub struct Dependencies {
    copied: BTreeMap<PackageId, Copied>,
    /// The manifests of the copies.
    manifests: BTreeMap<PackageId, String>,
    /// What is different in the manifests of the workspace's packages.
    moved: BTreeMap<String, Moved>,
    /// What a package uses, by the folder of its copy.
    uses: BTreeMap<PathBuf, BTreeSet<PackageId>>,
    left_out: LeftOut,
    /// What was asked for and is not annotated, in words.
    not_annotated: Vec<String>,
    /// The annotated crates of which no function has a probe.
    pub without_probes: BTreeSet<PackageId>,
    /// The crates without probes that annotated code uses.
    pub unopened: Unopened,
}

impl Dependencies {
    /// The crates that are copied if these are wanted and the selected packages are `built`.
    ///
    /// # Errors
    /// If a pattern matches nothing.
    pub fn find(
        project: &Project,
        selected: &[PackageId],
        built: &Built,
        wanted: Option<&Wanted>,
        places: Places<'_>,
    ) -> Result<Self> {
        let graph = Graph::new(project, selected, built);
        let allocator = allocator::crates(&graph);
        let chosen = wanted.map(|wanted| choose::choose(&graph, wanted, &allocator));
        let chosen = chosen.transpose()?.unwrap_or_default();
        let mut found = Self {
            left_out: LeftOut::read(places.all, places.with),
            not_annotated: chosen.not_annotated,
            ..Self::default()
        };
        for id in graph.with_users(&chosen.crates) {
            let package = graph.package(&id).clone();
            let is_chosen = chosen.crates.contains(&id);
            let error = found.left_out.why(&package).filter(|_| is_chosen);
            found
                .not_annotated
                .extend(error.map(|error| does_not_compile(&package, error)));
            let is_annotated = is_chosen && error.is_none();
            let copied = Copied::new(package, is_annotated, places);
            found.copied.insert(id, copied);
        }
        for (id, copied) in &found.copied {
            let text = manifest::of(&graph, copied, &|id| found.copy(id), places)
                .with_context(|| format!("the manifest of {}", copied.package.name))?;
            found.manifests.insert(id.clone(), text);
            let uses = graph.uses(id).cloned().collect();
            found.uses.insert(copied.copy.clone(), uses);
        }
        found.unopened = found.unopened(&graph, &allocator);
        let members = graph.members().into_iter();
        for member in members.filter(|member| !is_macro(member)) {
            let moved = Moved {
                copies: found.paths_in(&graph, member),
                originals: found.originals_in(&graph, member),
            };
            found.moved.insert(member.name.to_string(), moved);
            let folder = Copied::new(member.clone(), true, places).copy;
            let uses = graph.uses(&member.id).cloned().collect();
            found.uses.insert(folder, uses);
        }
        Ok(found)
    }

    /// Where the copy of a package is, if there is one.
    fn copy(&self, id: &PackageId) -> Option<PathBuf> {
        self.copied.get(id).map(|copied| copied.copy.clone())
    }

    /// The new paths of a workspace package's dependencies, by their names in its manifest.
    fn paths_in(&self, graph: &Graph<'_>, member: &Package) -> BTreeMap<String, PathBuf> {
        let of_code = |of: &&Dependency| of.kind != DependencyKind::Build;
        let dependencies = member.dependencies.iter().filter(of_code);
        let paths = dependencies.filter_map(|dependency| {
            let path = self.copy(graph.target(&member.id, dependency)?)?;
            Some((graph::name(dependency).clone(), path))
        });
        paths.collect()
    }

    /// The names in a workspace package's manifest that its build script has other ones for.
    fn originals_in(&self, graph: &Graph<'_>, member: &Package) -> BTreeMap<String, String> {
        let renamed = member.dependencies.iter().filter_map(|dependency| {
            self.copy(graph.target(&member.id, dependency)?)?;
            let original = graph.name_of_original(member, dependency)?;
            Some((graph::name(dependency).clone(), original))
        });
        renamed.collect()
    }

    /// The crates of the program that have no probes and may have some, and are used where there are probes.
    fn unopened(&self, graph: &Graph<'_>, allocator: &BTreeSet<&PackageId>) -> Unopened {
        let has_probes = |id: &PackageId| {
            let copied = self.copied.get(id);
            copied.map_or(graph.is_member(id), |copied| copied.is_annotated)
        };
        let annotated = graph.in_program().filter(|id| has_probes(id));
        annotated
            .flat_map(|id| graph.names(id))
            .filter(|(_, id)| {
                graph.is_in_program(id)
                    && !has_probes(id)
                    && !allocator.contains(id)
                    && self.left_out.why(graph.package(id)).is_none()
                    && graph
                        .doubled(&graph.with_users(&[(*id).clone()].into()))
                        .is_empty()
            })
            .map(|(name, id)| (name.to_owned(), graph.package(id).name.to_string()))
            .collect()
    }

    /// What is different in the manifest of a workspace's package, if it uses copies.
    #[must_use]
    pub fn moved(&self, member: &str) -> Option<&Moved> {
        let moved = self.moved.get(member);
        moved.filter(|moved| !moved.copies.is_empty())
    }

    /// The crates that are copied, each with its manifest.
    pub fn copied(&self) -> impl Iterator<Item = (&Copied, &str)> {
        let copied = self.copied.iter();
        copied.map(|(id, copied)| (copied, self.manifests.get(id).map_or("", String::as_str)))
    }

    /// Updates the copies, without `target`, in which they are. `replaced` has the contents that differ from the originals.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn sync(&self, all: &Folder, target: &Path, replaced: &Replaced) -> Result<()> {
        let folders: BTreeSet<&CopiedFolder> = self.folders().collect();
        for copied in folders {
            let mut folder = all.folder(OsStr::new(WITH))?;
            for name in &copied.names {
                folder = folder.folder(OsStr::new(name))?;
            }
            let leave_out = copy::left_out(&copied.original, target);
            let written = &mut Written::default();
            sync(&copied.original, &folder, &leave_out, replaced, written)?;
        }
        Ok(())
    }

    fn folders(&self) -> impl Iterator<Item = &CopiedFolder> {
        self.copied
            .values()
            .filter_map(|copied| copied.folder.as_ref())
    }

    /// The folders of copies and those of their originals, of which the compiler reports the latter.
    #[must_use]
    pub fn prefixes(&self, all: &Path) -> BTreeMap<PathBuf, PathBuf> {
        self.folders().map(|folder| folder.prefix(all)).collect()
    }

    /// The crates that are copied, as a text that differs for other ones.
    #[must_use]
    pub fn key(&self) -> String {
        let ids = self.copied.keys().map(|id| format!("\n{}", id.repr));
        ids.collect()
    }

    /// Leaves out what does not compile with attributes: the refused crates or, where the compiler complains about a line of their users, the
    /// crates that these use. An error without a line, such as the linker's, says nothing of attributes. Returns false if that changes nothing.
    pub fn leave_out(&mut self, refusals: &[Refusal]) -> bool {
        let mut changed = false;
        let mut seen = BTreeSet::new();
        let first_errors = refusals
            .iter()
            .filter(|refusal| seen.insert(&refusal.folder));
        for refusal in first_errors {
            for id in self.to_blame(refusal) {
                let Some(copied) = self.copied.get_mut(&id) else {
                    continue;
                };
                copied.is_annotated = false;
                self.left_out.add(&copied.package, &refusal.error);
                self.not_annotated
                    .push(does_not_compile(&copied.package, &refusal.error));
                changed = true;
            }
        }
        changed
    }

    /// Remembers what is left out.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn remember(&self) -> Result<()> {
        self.left_out.write()
    }

    /// The crates whose attributes may be the reason why this package does not compile.
    fn to_blame(&self, refusal: &Refusal) -> Vec<PackageId> {
        let folder = &*refusal.folder;
        let annotated = self.copied.iter().filter(|(_, copied)| copied.is_annotated);
        let (itself, others): (Vec<_>, Vec<_>) =
            annotated.partition(|(_, copied)| copied.copy == folder);
        let uses = self.uses.get(folder).filter(|_| refusal.place.is_some());
        let is_used = |id: &PackageId| uses.is_some_and(|uses| uses.contains(id));
        let to_blame = if itself.is_empty() { others } else { itself };
        to_blame
            .into_iter()
            .filter(|(id, copied)| copied.copy == folder || is_used(id))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// What is said of the crates above the report.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let annotated = self.copied.iter().filter(|(_, copied)| copied.is_annotated);
        let (without, with): (Vec<_>, Vec<_>) =
            annotated.partition(|(id, _)| self.without_probes.contains(id));
        let [with, without] = [with, without].map(|crates| {
            let names = crates
                .iter()
                .map(|(_, it)| graph::with_version(&it.package));
            Vec::from_iter(names.collect::<BTreeSet<String>>()).join(", ")
        });
        let is_any = |names: &str| !names.is_empty();
        let with = is_any(&with).then(|| format!("with {with}"));
        let why = "no function there has a probe";
        let without = is_any(&without).then(|| format!("without {without}: {why}"));
        let others = self.not_annotated.iter();
        let others = others.map(|why| format!("without {why}"));
        with.into_iter().chain(without).chain(others).collect()
    }
}

fn does_not_compile(package: &Package, error: &str) -> String {
    let package = graph::with_version(package);
    format!("{package}: it does not compile with attributes: {error}")
}
