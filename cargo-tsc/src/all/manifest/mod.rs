//! The manifests of the copy: with the runtime as a dependency, and with paths that lead to the same places as in the original.

mod runtime;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

pub use runtime::{Runtime, with_inherited_runtime, with_runtime};

use crate::sources::{plain, whole};

fn parsed(text: &str) -> Result<DocumentMut> {
    text.parse().context("not a manifest")
}

/// Changes the manifest in `root`: it is a workspace even if it is inside another one. A package that was none before has no members beside
/// itself, so packages in its folders are dependencies, as they were.
///
/// # Errors
/// If it is not a manifest, or the folder cannot be read.
pub fn as_root(text: &str, root: &Path) -> Result<String> {
    let mut document = parsed(text)?;
    if !document.contains_key("workspace") {
        let mut folders = Array::new();
        for entry in fs::read_dir(root)? {
            let entry = entry?;
            if entry.path().is_dir() {
                folders.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        folders.sort_by_key(ToString::to_string);
        document["workspace"] = Item::Table(Table::from_iter([("exclude", folders)]));
    }
    Ok(document.to_string())
}

/// What is different in a manifest that leads to copies, by the names of dependencies in it.
#[derive(Debug, Default)]
pub struct Moved {
    /// The paths from which the package's code and its tests take them.
    pub copies: BTreeMap<String, PathBuf>,
    /// The names of those that its build script uses as well, which keeps the originals.
    pub originals: BTreeMap<String, String>,
}

/// Takes dependencies from other paths.
///
/// # Errors
/// If it is not a manifest.
pub fn with_copies(text: &str, moved: &Moved) -> Result<String> {
    let mut document = parsed(text)?;
    take_from(document.as_table_mut(), &moved.copies);
    rename(document.as_table_mut(), &moved.originals);
    let platforms = document.get_mut("target").and_then(Item::as_table_like_mut);
    for (_, platform) in platforms.into_iter().flat_map(|table| table.iter_mut()) {
        if let Some(platform) = platform.as_table_like_mut() {
            take_from(platform, &moved.copies);
            rename(platform, &moved.originals);
        }
    }
    Ok(document.to_string())
}

/// Those of the paths whose dependency the package inherits from the workspace, which may be another version than other packages have under
/// the same name.
///
/// # Errors
/// If it is not a manifest.
pub fn inherited(
    text: &str,
    paths: &BTreeMap<String, PathBuf>,
) -> Result<BTreeMap<String, PathBuf>> {
    let document = parsed(text)?;
    let platforms = document.get("target").and_then(Item::as_table_like);
    let platforms = platforms.into_iter().flat_map(TableLike::iter);
    let tables: Vec<&dyn TableLike> = platforms
        .filter_map(|(_, platform)| platform.as_table_like())
        .chain([document.as_table() as &dyn TableLike])
        .collect();
    let is_inherited = |name: &str| {
        let mut entries = tables.iter().flat_map(|table| {
            KINDS.iter().filter_map(|kind| {
                let dependencies = table.get(kind)?.as_table_like()?;
                dependencies.get(name)?.as_table_like()
            })
        });
        entries.any(|entry| entry.contains_key("workspace"))
    };
    let inherited = paths.iter().filter(|(name, _)| is_inherited(name));
    Ok(inherited
        .map(|(name, path)| (name.clone(), path.clone()))
        .collect())
}

/// Like [`with_copies`], for what the packages of a workspace inherit.
///
/// # Errors
/// If it is not a manifest.
pub fn with_inherited_copies(text: &str, paths: &BTreeMap<String, PathBuf>) -> Result<String> {
    let mut document = parsed(text)?;
    let workspace = document.get_mut("workspace");
    if let Some(workspace) = workspace.and_then(Item::as_table_like_mut) {
        take_from(workspace, paths);
    }
    Ok(document.to_string())
}

/// The tables of what a package's own code and its tests use.
const KINDS: [&str; 2] = ["dependencies", "dev-dependencies"];
/// The keys that tell where a dependency comes from.
const ORIGIN: [&str; 7] = ["branch", "git", "path", "registry", "rev", "tag", "version"];

fn take_from(table: &mut dyn TableLike, paths: &BTreeMap<String, PathBuf>) {
    for kind in KINDS {
        let Some(dependencies) = table.get_mut(kind).and_then(Item::as_table_like_mut) else {
            continue;
        };
        for (name, path) in paths {
            let path = path.display().to_string();
            if let Some(item) = dependencies.get_mut(name) {
                set_origin(item, "path", &path);
            }
        }
    }
}

/// Gives the dependencies of a build script other names. One that is inherited has the same name in the workspace, and keeps it.
fn rename(table: &mut dyn TableLike, names: &BTreeMap<String, String>) {
    let scripts = table.get_mut("build-dependencies");
    let Some(scripts) = scripts.and_then(Item::as_table_like_mut) else {
        return;
    };
    for (name, new) in names {
        let is_own = |item: &Item| item.get("workspace").is_none();
        let item = scripts.get(name).filter(|item| is_own(item)).cloned();
        let Some(mut item) = item else {
            continue;
        };
        scripts.remove(name);
        if let Some(version) = item.as_str() {
            item = value(InlineTable::from_iter([("version", version)]));
        }
        if let Some(entry) = item.as_table_like_mut() {
            entry.remove("optional");
            entry.entry("package").or_insert(value(name));
        }
        scripts.insert(new, item);
    }
}

/// Takes a dependency from where `key` says.
fn set_origin(item: &mut Item, key: &str, text: &str) {
    if item.is_str() {
        *item = value(InlineTable::from_iter([(key, text)]));
        return;
    }
    let entry = item.as_table_like_mut();
    // What is inherited is changed where it is declared.
    if let Some(entry) = entry.filter(|entry| !entry.contains_key("workspace")) {
        for key in ORIGIN {
            entry.remove(key);
        }
        entry.insert(key, value(text));
    }
}

/// Makes relative paths that lead out of `root` absolute. `folder` contains the manifest.
///
/// # Errors
/// If it is not a manifest.
pub fn with_paths(text: &str, folder: &Path, root: &Path) -> Result<String> {
    let mut document = parsed(text)?;
    lead_outside(document.as_table_mut(), folder, root);
    Ok(document.to_string())
}

/// The folders in `root` to which paths lead.
///
/// # Errors
/// If it is not a manifest.
pub fn folders_inside(text: &str, folder: &Path, root: &Path) -> Result<Vec<PathBuf>> {
    fn add(table: &dyn TableLike, paths: &mut Vec<String>) {
        for (key, item) in table.iter() {
            if let Some(path) = item.as_str().filter(|_| key == "path") {
                paths.push(path.to_owned());
            } else if let Some(inner) = item.as_table_like() {
                add(inner, paths);
            }
        }
    }
    let document = parsed(text)?;
    let mut paths = Vec::new();
    add(document.as_table(), &mut paths);
    let folders = paths.iter().map(|path| plain(&folder.join(path)));
    Ok(folders.filter(|there| there.starts_with(root)).collect())
}

/// Changes the values of the key `path`, wherever dependencies, patches and replacements have it.
fn lead_outside(table: &mut dyn TableLike, folder: &Path, root: &Path) {
    for (key, item) in table.iter_mut() {
        if let Some(path) = item.as_str().filter(|_| key == "path") {
            if let Some(absolute) = outside(path, folder, root) {
                *item = value(absolute);
            }
        } else if let Some(inner) = item.as_table_like_mut() {
            lead_outside(inner, folder, root);
        }
    }
}

/// The absolute path, if the path leads out of `root`.
fn outside(path: &str, folder: &Path, root: &Path) -> Option<String> {
    if Path::new(path).is_absolute() {
        return None;
    }
    // As cargo does, without the links on the way: the folder need not be there.
    let there = whole(plain(&folder.join(path)));
    let root = root.canonicalize().ok()?;
    (!there.starts_with(root)).then(|| there.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_package_inherits_is_the_workspaces() {
        let names = ["a", "b", "c", "d", "e"];
        let paths: BTreeMap<String, PathBuf> = names
            .map(|name| (name.to_owned(), PathBuf::from(name)))
            .into();
        let text = "[dependencies]\na.workspace = true\nb = \"0.9\"\nc = { version = \"0.9\", optional = true }\n\
            [target.'cfg(unix)'.dependencies]\nd = { workspace = true, features = [\"x\"] }\n[build-dependencies]\ne.workspace = true\n";
        let inherited = inherited(text, &paths).unwrap();
        assert_eq!(inherited.keys().collect::<Vec<_>>(), ["a", "d"]);
    }

    #[test]
    fn a_package_alone_becomes_a_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in ["sub", "src"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        let alone = as_root("[package]\nname = \"a\"\n", root).unwrap();
        assert!(
            alone.contains("[workspace]\nexclude = [\"src\", \"sub\"]\n"),
            "{alone}"
        );
        let there = "[workspace]\nmembers = [\"b\"]\n";
        assert_eq!(as_root(there, root).unwrap(), there);
    }

    #[test]
    fn paths_out_of_the_tree_are_absolute() {
        let dir = tempfile::tempdir().unwrap();
        let outer = dir.path().canonicalize().unwrap();
        for folder in ["tree/inner", "beside"] {
            std::fs::create_dir_all(outer.join(folder)).unwrap();
        }
        let root = outer.join("tree");
        let text = "[dependencies]\na = { path = \"../beside\" }\nb = { path = \"inner\" }\n[target.'cfg(unix)'.dependencies.c]\npath = \"../beside\"\n";
        let changed = with_paths(text, &root, &root).unwrap();
        let absolute = outer.join("beside").display().to_string();
        assert_eq!(changed.matches(&absolute).count(), 2, "{changed}");
        assert!(changed.contains("b = { path = \"inner\" }"));
        let inside = folders_inside(&changed, &root, &root).unwrap();
        assert_eq!(inside, [root.join("inner")]);
    }
}
