//! What is different in a copy: the manifests, and the annotated sources.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::Package;

use super::Copies;
use crate::all::copy::Replaced;
use crate::all::dependencies::{Dependencies, is_macro};
use crate::all::known::digest_of_code;
use crate::all::manifest::{self, Runtime};
use crate::annotate::{self, Function, Probe, Where};
use crate::build::Refusal;
use crate::interrupt;
use crate::progress::remark;
use crate::sources::{Sources, place, plain};

impl Copies<'_> {
    /// The manifests that must be different in a copy, with the runtime if it is given.
    pub(super) fn manifests(&self, runtime: Option<&Runtime>) -> Result<Replaced> {
        let root = self.original.root();
        let mut replaced = Replaced::new();
        let members = self.original.metadata().workspace_packages();
        let manifests = members.iter().map(|package| {
            let path = package.manifest_path.clone().into_std_path_buf();
            (path, !is_macro(package))
        });
        for (path, is_measured) in manifests.chain([(root.join("Cargo.toml"), false)]) {
            let context = || path.display().to_string();
            if replaced.contains_key(&path) {
                continue;
            }
            let text = fs::read_to_string(&path).with_context(context)?;
            let folder = path.parent().unwrap_or(root);
            let mut text = manifest::with_paths(&text, folder, root).with_context(context)?;
            if folder == root {
                text = manifest::as_root(&text, root).with_context(context)?;
                if let Some(runtime) = runtime {
                    text =
                        manifest::with_inherited_runtime(&text, runtime).with_context(context)?;
                }
            }
            if let Some(runtime) = runtime.filter(|_| is_measured) {
                text = manifest::with_runtime(&text, runtime).with_context(context)?;
            }
            replaced.insert(path, text.into_bytes());
        }
        add_others(root, &mut replaced)?;
        Ok(replaced)
    }

    /// The manifests with the runtime, and the annotated sources.
    pub(super) fn replaced(&mut self, runtime: &Runtime) -> Result<Replaced> {
        let mut replaced = self.manifests(Some(runtime))?;
        (self.attributes, self.light, self.too_short) = (0, 0, 0);
        self.sources = DefaultHasher::new();
        let mut dependencies = std::mem::take(&mut self.dependencies);
        let members = self.original.metadata().workspace_packages();
        lead_to_copies(&members, &dependencies, self.original.root(), &mut replaced)?;
        let others = dependencies.copied().map(|(copied, _)| &copied.package);
        let sources = Sources::new(&members.iter().copied().chain(others).collect::<Vec<_>>());
        self.annotate_members(&members, &sources, &mut replaced)?;
        let files_of = match self.command.is_for_this_machine() {
            true => annotate::files_for_this_machine,
            false => annotate::files_of,
        };
        let mut without_probes = BTreeSet::new();
        for (copied, text) in dependencies.copied() {
            let manifest = copied.original.join("Cargo.toml");
            if !copied.is_annotated {
                replaced.insert(manifest, text.into());
                continue;
            }
            replaced.insert(
                manifest,
                manifest::with_runtime(text, runtime)?.into_bytes(),
            );
            let before = self.attributes;
            let say = &mut |text| self.say(text);
            for file in sources.of(&copied.package, false, files_of, say)? {
                let original = copied.original_of(&file);
                if let Some(text) = self.annotate(&copied.package, &file, &original)? {
                    replaced.insert(original, text);
                }
            }
            if self.attributes == before {
                without_probes.insert(copied.package.id.clone());
            }
        }
        dependencies.without_probes = without_probes;
        self.dependencies = dependencies;
        Ok(replaced)
    }

    /// Annotates the workspace's packages that the command builds.
    fn annotate_members(
        &mut self,
        members: &[&Package],
        sources: &Sources,
        replaced: &mut Replaced,
    ) -> Result<()> {
        let with_examples = self.command.has_tests();
        for package in members {
            if !self.used.contains(package.name.as_str()) || is_macro(package) {
                continue;
            }
            let say = &mut |text| self.say(text);
            for file in sources.of(package, with_examples, annotate::files_of, say)? {
                // Other files are not in the copy, which has the same links.
                let Some(place) = place(self.original.root(), &file) else {
                    self.say_of(
                        &file,
                        "not measured, because it is outside of the project or reached through a symbolic link",
                    );
                    continue;
                };
                // Two crates may name it in different ways.
                if replaced.contains_key(&place) {
                    continue;
                }
                if let Some(text) = self.annotate(package, &file, &place)? {
                    replaced.insert(place, text);
                }
            }
        }
        Ok(())
    }

    /// Leaves out the functions with the compiler's first error or, if that was tried, their files. Other errors may follow from this one.
    /// Returns false if that changes nothing: the error is elsewhere.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(super) fn refuse(&mut self, refusals: &[Refusal], copy: &Path) -> Result<bool> {
        let mut changed = false;
        for refusal in refusals.iter().filter(|of| of.error == refusals[0].error) {
            let Some((file, line)) = &refusal.place else {
                continue;
            };
            // The compiler shows the project's own paths.
            let file = file.strip_prefix(copy).unwrap_or(file);
            let root = self.original.root();
            let file = plain(&root.join(file));
            if !self.files.contains_key(&file) || !file.starts_with(root) {
                continue;
            }
            changed |= self.refused.add(&file, *line, &refusal.error)?;
        }
        Ok(changed)
    }

    /// Says something of a file, once for all builds.
    fn say_of(&mut self, file: &Path, what: &str) {
        self.say(format!("{}: {what}", file.display()));
    }

    fn say(&mut self, text: String) {
        if !self.said.contains(&text) {
            remark(&text);
            self.said.insert(text);
        }
    }

    /// The annotated text of a file. `None` if it cannot be parsed, which is said. `original` is its path in reports.
    fn annotate(
        &mut self,
        package: &Package,
        file: &Path,
        original: &Path,
    ) -> Result<Option<Vec<u8>>> {
        interrupt::check()?;
        let source = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let refused = self.refused.of(original, &source);
        refused.sentences().for_each(|sentence| self.say(sentence));
        let offered = RefCell::new(Vec::new());
        let probe = |function: &Function| {
            let place = (original.to_owned(), function.line);
            let chosen = self.probes.get(&place);
            let chosen = chosen.copied().unwrap_or(Some(Probe::Light));
            if refused.has(function) {
                return function.has_attribute.then_some(Probe::Timed);
            }
            if !function.has_attribute {
                offered.borrow_mut().push(place);
            }
            chosen
        };
        // A plain attribute would time each call, whatever the choice.
        let annotated = annotate::without_plain(&source)
            .and_then(|plain| annotate::annotate_each(&plain, Where::Worthwhile, &probe));
        let annotated = match annotated {
            Ok(annotated) => annotated,
            Err(error) => {
                self.say(annotate::left_as_it_is(file, &error));
                return Ok(None);
            }
        };
        self.offered.extend(offered.into_inner());
        self.files
            .insert(original.to_owned(), digest_of_code(&source));
        (original, &source).hash(&mut self.sources);
        self.attributes += annotated.attributes;
        self.light += annotated.light;
        self.too_short += annotated.too_short;
        let mut text = annotated.text;
        if annotate::needs_declaration(package, file, &source) {
            // At the end, so that no line moves.
            text.extend(["\n", annotate::DECLARATION, "\n"]);
        }
        Ok(Some(text.into_bytes()))
    }
}

/// Adds the manifests of the packages in the folder `root` that are not the workspace's and to which these lead, and those of the workspaces
/// around them: their paths may lead out of it, too.
fn add_others(root: &Path, replaced: &mut Replaced) -> Result<()> {
    let mut left: Vec<PathBuf> = replaced.keys().cloned().collect();
    while let Some(manifest) = left.pop() {
        let folder = manifest.parent().unwrap_or(root);
        let text = String::from_utf8_lossy(&replaced[&manifest]);
        let folders = manifest::folders_inside(&text, folder, root)?;
        let around = folders.iter().flat_map(|folder| folder.ancestors());
        for folder in around.filter(|folder| folder.starts_with(root)) {
            let other = folder.join("Cargo.toml");
            if replaced.contains_key(&other) {
                continue;
            }
            let text = fs::read_to_string(&other).ok();
            // What cannot be read, cargo complains about.
            let text = text.and_then(|text| manifest::with_paths(&text, folder, root).ok());
            if let Some(text) = text {
                replaced.insert(other.clone(), text.into_bytes());
                left.push(other);
            }
        }
    }
    Ok(())
}

/// Makes the manifests of a workspace's packages, and that in its `root`, lead to the copies of dependencies.
fn lead_to_copies(
    members: &[&Package],
    dependencies: &Dependencies,
    root: &Path,
    replaced: &mut Replaced,
) -> Result<()> {
    let mut inherited = BTreeMap::new();
    for package in members {
        if let Some(contents) = replaced.get_mut(package.manifest_path.as_std_path())
            && let Some(moved) = dependencies.moved(&package.name)
        {
            let text = String::from_utf8_lossy(contents);
            inherited.extend(manifest::inherited(&text, &moved.copies)?);
            *contents = manifest::with_copies(&text, moved)?.into_bytes();
        }
    }
    if let Some(contents) = replaced.get_mut(&root.join("Cargo.toml")) {
        let text = String::from_utf8_lossy(contents);
        *contents = manifest::with_inherited_copies(&text, &inherited)?.into_bytes();
    }
    Ok(())
}
