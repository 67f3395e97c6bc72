//! Turns measurement on: the features of the runtime that a build selects.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail};
use cargo_metadata::{DependencyKind, Edition, PackageId};
use toml_edit::DocumentMut;

use super::{Build, Project, Selection};

/// The name of the runtime's package.
pub const RUNTIME: &str = "tsc-runtime";
/// The runtime's feature with which it measures in every profile.
pub const ALWAYS: &str = "release-builds";

/// A package that depends on the runtime, and the name that it gives it.
type Dependent = (PackageId, String);

impl Build<'_> {
    /// Selects the features that measure, and optimises the runtime in debug builds, where a probe otherwise costs five times as much.
    ///
    /// # Errors
    /// If nothing that is built depends on the runtime.
    pub(super) fn turn_on(&self, command: &mut Command, selection: &Selection) -> Result<()> {
        let members = self.project.members_used(&selection.packages);
        let dependents = self.project.dependents(&members);
        let is_selected = |dependent: &&Dependent| selection.packages.contains(&dependent.0);
        let is_linked = |dependent: &&Dependent| {
            let (id, is_own) = (&dependent.0, is_selected(dependent));
            self.project
                .links_runtime(id, is_own && self.command.has_tests())
        };
        // There is one runtime, and cargo gives it the features that any package selects. So one package is enough.
        let linked = || dependents.iter().filter(is_linked);
        let chosen = linked().find(is_selected);
        let chosen = chosen.or(linked().min_by_key(|it| self.has_same(&it.0, selection)));
        let Some((id, name)) = chosen.or(dependents.first()) else {
            let packages = selection.packages.iter();
            let names: Vec<&str> = packages.map(|id| self.name(id)).collect();
            bail!(
                "{} does not depend on tsc-runtime: add it and #[cycles], or measure every function with `cargo tsc run --all`",
                names.join(", ")
            );
        };
        command.arg("--features").arg(format!("{name}/{ALWAYS}"));
        // Cargo only accepts features of selected packages. More than are needed are not selected, because cargo would build their targets.
        if !selection.packages.contains(id) {
            let named = !self.command.values("--package", Some("-p")).is_empty();
            let own = selection.packages.iter().filter(|_| !named);
            for id in std::iter::once(id).chain(own) {
                command.arg("--package").arg(self.name(id));
            }
            self.keep_defaults_off(command, id, selection);
        }
        let has_manifest = !self.command.values("--manifest-path", None).is_empty();
        if self.project.has_first_resolver() && !has_manifest {
            let manifest = &self.project.package(id).manifest_path;
            command.arg("--manifest-path").arg(manifest);
        }
        command.args(["--config", "profile.dev.package.tsc-core.opt-level=3"]);
        Ok(())
    }

    /// Selects the default features of the user's packages alone. That package `id` is selected, too, is no reason for its own.
    fn keep_defaults_off(&self, command: &mut Command, id: &PackageId, selection: &Selection) {
        let is_default = |id: &&PackageId| {
            let features = &self.project.package(id).features;
            features.get("default").is_some_and(|of| !of.is_empty())
        };
        let is_chosen = self
            .command
            .has(&["--no-default-features", "--all-features"]);
        if is_chosen || !is_default(&id) {
            return;
        }
        command.arg("--no-default-features");
        for own in selection.packages.iter().filter(is_default) {
            let feature = format!("{}/default", self.name(own));
            command.arg("--features").arg(feature);
        }
    }

    /// Whether the package has a program of the same name as the one that is run. Cargo would build both, and one's file would replace the
    /// other's.
    fn has_same(&self, id: &PackageId, selection: &Selection) -> bool {
        let mut names = selection.target.clone();
        names.extend(self.command.values("--bin", None));
        names.extend(self.command.values("--example", None));
        let targets = &self.project.package(id).targets;
        let mut programs = targets.iter().filter(|it| it.is_bin() || it.is_example());
        programs.any(|program| names.iter().any(|name| **name == *program.name))
    }

    fn name(&self, id: &PackageId) -> &str {
        self.project.package(id).name.as_str()
    }
}

impl Project {
    /// The packages that depend on the runtime, and the name that each of them gives it, because cargo's features use that name.
    #[must_use]
    pub fn dependents(&self, members: &[PackageId]) -> Vec<Dependent> {
        let mut dependents = Vec::new();
        for id in members {
            let dependency = self
                .package(id)
                .dependencies
                .iter()
                .find(|dependency| dependency.name == RUNTIME);
            if let Some(dependency) = dependency {
                let name = dependency
                    .rename
                    .clone()
                    .unwrap_or_else(|| RUNTIME.to_owned());
                dependents.push((id.clone(), name));
            }
        }
        dependents
    }

    /// Whether cargo gives features to the package of the folder in which it is started, or of the manifest that it is given, instead of to
    /// the selected ones.
    fn has_first_resolver(&self) -> bool {
        let manifest = self.root().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap_or_default();
        let tables = text.parse::<DocumentMut>().unwrap_or_default();
        let resolver = |table: &&str| tables.get(table)?.get("resolver")?.as_str();
        if let Some(resolver) = ["workspace", "package"].iter().find_map(resolver) {
            return resolver == "1";
        }
        let mut packages = self.metadata().packages.iter();
        let root = packages.find(|package| package.manifest_path == *manifest);
        root.is_none_or(|root| matches!(root.edition, Edition::E2015 | Edition::E2018))
    }

    /// Whether the package's code is linked with the runtime on this platform. Cargo does not give features to what only build scripts or,
    /// unless these are built, tests use.
    fn links_runtime(&self, id: &PackageId, with_tests: bool) -> bool {
        let is_built = |kind: DependencyKind| match kind {
            DependencyKind::Normal => true,
            kind => with_tests && kind == DependencyKind::Development,
        };
        let nodes = self.metadata().resolve.iter().flat_map(|it| &it.nodes);
        let mut dependencies = nodes.filter(|node| node.id == *id).flat_map(|it| &it.deps);
        dependencies.any(|dependency| {
            self.package(&dependency.pkg).name.as_str() == RUNTIME
                && dependency.dep_kinds.iter().any(|it| is_built(it.kind))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{CargoCommand, CargoVerb, Measurement};
    use crate::test_files::write;
    use std::path::Path;

    fn write_package(folder: &Path, name: &str, dependencies: &str, files: &[(&str, &str)]) {
        let text = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n[features]\nrelease-builds = []\n[dependencies]\n{dependencies}"
        );
        for (file, text) in [("Cargo.toml", &*text)].iter().chain(files) {
            write(&folder.join(name).join(file), text);
        }
    }

    /// A workspace with a package in the runtime's place. `a` depends on `b`, and `c` on `b` and `d`. Of these, only `c` does not depend on
    /// the runtime, and only `d` has no example `x`.
    fn workspace() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let members = "[workspace]\nmembers = [\"a\", \"b\", \"c\", \"d\"]\nresolver = \"3\"\n";
        fs::write(dir.path().join("Cargo.toml"), members).unwrap();
        let on = "#[cfg(feature = \"release-builds\")]\npub fn on() {}";
        write_package(dir.path(), RUNTIME, "", &[("src/lib.rs", on)]);
        let renamed = "it = { package = \"tsc-runtime\", path = \"../tsc-runtime\" }\n";
        let own = "tsc-runtime = { path = \"../tsc-runtime\" }\nb = { path = \"../b\" }\n";
        let example = ("examples/x.rs", "fn main() {}");
        let of_b = ("src/lib.rs", "pub fn f() { it::on() }");
        let of_a = ("src/lib.rs", "pub fn f() { tsc_runtime::on(); b::f() }");
        write_package(dir.path(), "a", own, &[of_a, example]);
        write_package(dir.path(), "b", renamed, &[of_b, example]);
        let other = "b = { path = \"../b\" }\nd = { path = \"../d\" }\n";
        write_package(dir.path(), "d", renamed, &[of_b]);
        write_package(
            dir.path(),
            "c",
            other,
            &[("src/lib.rs", "pub use b::f;"), example],
        );
        dir
    }

    fn built(dir: &Path, options: &str) -> Vec<String> {
        let command = CargoCommand {
            verb: CargoVerb::Run,
            options: options.split(' ').map(Into::into).collect(),
            arguments: Vec::new(),
        };
        let build = Build {
            project: &Project::find(&command, dir).unwrap(),
            command: &command,
            folder: dir,
            target: Some(dir.join("target")),
            intermediate: None,
            environment: Vec::new(),
            title: String::new(),
        };
        let executables = build.executables(Measurement::On).unwrap();
        let folders = executables.iter().map(|it| &it.environment[0].1);
        let names = folders.map(|it| Path::new(it).file_name().unwrap());
        names.map(|it| it.display().to_string()).collect()
    }

    #[test]
    fn only_what_is_selected_is_run_and_it_is_measured() {
        let dir = workspace();
        // Without the feature, nothing compiles.
        for package in ["a", "b", "c"] {
            let options = format!("-p {package} --example x --offline");
            assert_eq!(built(dir.path(), &options), [package]);
            assert_eq!(built(&dir.path().join(package), "--example x"), [package]);
        }
    }

    #[test]
    fn the_first_resolver_gives_the_feature_to_the_right_package() {
        let dir = workspace();
        let path = dir.path().join("Cargo.toml");
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("resolver = \"3\"\n", "");
        let root = "[package]\nname = \"root\"\nedition = \"2018\"\n";
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/lib.rs"), "").unwrap();
        for text in [format!("{root}{text}"), text] {
            fs::write(&path, text).unwrap();
            for package in ["a", "c"] {
                let options = format!("-p {package} --example x --offline");
                assert_eq!(built(dir.path(), &options), [package]);
            }
            assert_eq!(built(&dir.path().join("c"), "--example x"), ["c"]);
        }
    }

    #[test]
    fn a_library_that_is_only_measured_keeps_its_default_features_off() {
        let dir = workspace();
        let change = |file: &str, from: &str, to: &str| {
            let path = dir.path().join(file);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{text}");
            fs::write(path, text.replace(from, to)).unwrap();
        };
        let features = "[features]\ndefault = [\"x\"]\nx = []\n";
        for package in ["b", "c", "d"] {
            change(&format!("{package}/Cargo.toml"), "[features]\n", features);
        }
        for dependency in ["b", "d"] {
            let off = format!("path = \"../{dependency}\", default-features = false");
            let on = format!("path = \"../{dependency}\"");
            change("c/Cargo.toml", &on, &off);
            let wrong = "#[cfg(feature = \"x\")] compile_error!(\"on\"); pub fn f";
            change(&format!("{dependency}/src/lib.rs"), "pub fn f", wrong);
        }
        let own = "#[cfg(not(feature = \"x\"))] compile_error!(\"off\"); pub use";
        change("c/src/lib.rs", "pub use", own);
        assert_eq!(built(dir.path(), "-p c --example x --offline"), ["c"]);
        assert_eq!(built(&dir.path().join("c"), "--example x"), ["c"]);
    }
}
