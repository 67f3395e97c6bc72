//! The manifests of the copied crates. They are written from what cargo knows of the originals, because these may inherit parts from a
//! workspace. Every dependency has the version to which it was resolved, or the path of its copy.

use std::path::PathBuf;

use anyhow::Result;
use cargo_metadata::semver::BuildMetadata;
use cargo_metadata::{Dependency, DependencyKind, Package, PackageId, Target};
use serde_json::{Map, Value, json};

use super::copied::{Copied, Places};
use super::graph::{Graph, is_single, name};

/// The manifest of a crate. `copy` gives the path of a package that is copied.
///
/// # Errors
/// If what cargo knows cannot be written as a manifest.
pub fn of(
    graph: &Graph<'_>,
    copied: &Copied,
    copy: &dyn Fn(&PackageId) -> Option<PathBuf>,
    places: Places<'_>,
) -> Result<String> {
    let package = &copied.package;
    let mut document = without_dependencies(copied);
    for dependency in &package.dependencies {
        let table = match dependency.kind {
            DependencyKind::Normal => "dependencies",
            DependencyKind::Build => "build-dependencies",
            _ => continue,
        };
        let tables = match &dependency.target {
            Some(platform) => &mut document["target"][platform.to_string()][table],
            None => &mut document[table],
        };
        let resolved = graph.target(&package.id, dependency);
        let original = graph.name_of_original(package, dependency);
        let original = original.filter(|_| resolved.and_then(copy).is_some());
        let resolved = resolved.map(|id| graph.package(id));
        let mut entry = entry(dependency, resolved, copy, places);
        if let Some(original) = original {
            entry["package"] = json!(dependency.name);
            entry["optional"] = json!(false);
            tables[original] = entry;
        } else {
            tables[name(dependency)] = entry;
        }
    }
    without_nulls(&mut document);
    // With a header for each table, as cargo writes it in packages: the build script of zerocopy searches its manifest for one.
    Ok(toml_edit::ser::to_string_pretty(&document)?)
}

/// The manifest but for the dependencies.
fn without_dependencies(copied: &Copied) -> Value {
    let package = &copied.package;
    let manifest = package.manifest_path.as_std_path();
    let folder = manifest.parent().unwrap_or(manifest);
    let inner = |target: &Target| {
        let file = target.src_path.as_std_path();
        let inner = file.strip_prefix(folder).unwrap_or(file);
        inner.display().to_string()
    };
    let (script, library) = copied.targets();
    json!({
        "package": {
            "name": package.name,
            "version": package.version,
            "edition": package.edition,
            "authors": package.authors,
            "description": package.description,
            "license": package.license,
            "homepage": package.homepage,
            "repository": package.repository,
            "rust-version": package.rust_version,
            "links": package.links,
            "metadata": package.metadata,
            "build": script.map_or(json!(false), |target| json!(inner(target))),
            "autobins": false,
            "autobenches": false,
            "autoexamples": false,
            "autotests": false,
        },
        "lib": library.map(|library| json!({
            "name": library.name,
            "path": inner(library),
            // A dynamic library would have the same file as that of the original.
            "crate-type": ["lib"],
        })),
        "features": features(package),
    })
}

/// The features, without those of dependencies that only tests have, which the copy has not.
fn features(package: &Package) -> Value {
    let is_there = |feature: &String| {
        let Some((of, _)) = feature.split_once('/') else {
            return true;
        };
        let of = of.trim_end_matches('?');
        let mut dependencies = package.dependencies.iter();
        dependencies.any(|dependency| {
            dependency.kind != DependencyKind::Development && name(dependency) == of
        })
    };
    let features = package.features.iter().map(|(name, enables)| {
        let enables: Vec<&String> = enables.iter().filter(|other| is_there(other)).collect();
        (name.clone(), json!(enables))
    });
    Value::Object(features.collect())
}

/// The entry of a dependency, which was resolved to this package.
fn entry(
    dependency: &Dependency,
    resolved: Option<&Package>,
    copy: &dyn Fn(&PackageId) -> Option<PathBuf>,
    places: Places<'_>,
) -> Value {
    let mut entry = json!({
        "package": dependency.rename.as_ref().map(|_| &dependency.name),
        "optional": dependency.optional,
        "default-features": dependency.uses_default_features,
        "features": dependency.features,
    });
    // Build scripts use the originals, if there may be two.
    let is_copied =
        |package: &&Package| dependency.kind == DependencyKind::Normal || is_single(package);
    let copy = resolved.filter(is_copied).and_then(|of| copy(&of.id));
    let path = copy.or_else(|| Some(places.in_annotated(dependency.path.as_ref()?.as_std_path())));
    let git = dependency.source.as_ref();
    let git = git.and_then(|source| source.repr.strip_prefix("git+"));
    // Of a package in the same repository, cargo also says the revision that is locked.
    let git = git.and_then(|git| git.split('#').next());
    if let Some(path) = path {
        entry["path"] = json!(path);
    } else if let Some(git) = git {
        let (url, query) = git.split_once('?').unwrap_or((git, ""));
        entry["git"] = json!(url);
        // `branch`, `tag` or `rev`.
        if let Some((key, value)) = query.split_once('=') {
            entry[key] = json!(value);
        }
    } else {
        let exact = resolved.map(|package| {
            let mut version = package.version.clone();
            version.build = BuildMetadata::EMPTY;
            format!("={version}")
        });
        entry["version"] = json!(exact.unwrap_or_else(|| dependency.req.to_string()));
        entry["registry-index"] = json!(dependency.registry);
    }
    entry
}

/// A manifest has no `null`.
fn without_nulls(value: &mut Value) {
    if let Value::Object(map) = value {
        let all = std::mem::take(map);
        let some = all.into_iter().filter(|(_, value)| !value.is_null());
        *map = some.collect::<Map<String, Value>>();
        map.values_mut().for_each(without_nulls);
    }
}
