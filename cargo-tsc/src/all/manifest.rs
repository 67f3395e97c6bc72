//! The manifests of the copy: with the runtime as a dependency, and with paths that lead to the same places as in the original.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use crate::sources::{plain, whole};

/// The source of the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// A folder that contains its source.
    Folder(PathBuf),
    /// The registry, with the version of this program.
    Published,
}

impl Runtime {
    /// Uses the given folder; otherwise the source beside that of this program, if it still exists; otherwise the registry.
    #[must_use]
    pub fn find(given: Option<&Path>) -> Self {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tsc-runtime");
        match given {
            Some(folder) => {
                Self::Folder(std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
            }
            None if beside.join("Cargo.toml").exists() => {
                Self::Folder(beside.canonicalize().unwrap_or(beside))
            }
            None => Self::Published,
        }
    }

    fn dependency(&self) -> Item {
        let mut table = toml_edit::InlineTable::new();
        match self {
            Self::Folder(folder) => table.insert("path", folder.display().to_string().into()),
            Self::Published => {
                table.insert("version", concat!("=", env!("CARGO_PKG_VERSION")).into())
            }
        };
        table.insert(
            "features",
            toml_edit::Array::from_iter(["release-builds"]).into(),
        );
        value(table)
    }
}

/// Adds the runtime to a package's manifest.
///
/// # Errors
/// If it is not a manifest.
pub fn with_runtime(text: &str, runtime: &Runtime) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("not a manifest")?;
    let dependencies = document
        .entry("dependencies")
        .or_insert(Item::Table(Table::new()));
    let dependencies = dependencies
        .as_table_like_mut()
        .context("`dependencies` is not a table")?;
    dependencies.insert("tsc-runtime", runtime.dependency());
    Ok(document.to_string())
}

/// Changes the workspace's manifest: it is a workspace even if it is inside another one.
///
/// # Errors
/// If it is not a manifest.
pub fn as_root(text: &str) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("not a manifest")?;
    document
        .entry("workspace")
        .or_insert(Item::Table(Table::new()));
    Ok(document.to_string())
}

/// Takes dependencies from other paths, which are given by their names in the manifest. Those of build scripts stay.
///
/// # Errors
/// If it is not a manifest.
pub fn with_copies(text: &str, paths: &BTreeMap<String, PathBuf>) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("not a manifest")?;
    take_from(document.as_table_mut(), paths);
    let platforms = document.get_mut("target").and_then(Item::as_table_like_mut);
    for (_, platform) in platforms.into_iter().flat_map(|table| table.iter_mut()) {
        if let Some(platform) = platform.as_table_like_mut() {
            take_from(platform, paths);
        }
    }
    Ok(document.to_string())
}

/// Like [`with_copies`], for what the packages of a workspace inherit.
///
/// # Errors
/// If it is not a manifest.
pub fn with_inherited_copies(text: &str, paths: &BTreeMap<String, PathBuf>) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("not a manifest")?;
    let workspace = document.get_mut("workspace");
    if let Some(workspace) = workspace.and_then(Item::as_table_like_mut) {
        take_from(workspace, paths);
    }
    Ok(document.to_string())
}

/// The keys that tell where a dependency comes from.
const ORIGIN: [&str; 7] = ["branch", "git", "path", "registry", "rev", "tag", "version"];

fn take_from(table: &mut dyn TableLike, paths: &BTreeMap<String, PathBuf>) {
    for kind in ["dependencies", "dev-dependencies"] {
        let Some(dependencies) = table.get_mut(kind).and_then(Item::as_table_like_mut) else {
            continue;
        };
        for (name, path) in paths {
            let path = path.display().to_string();
            match dependencies.get_mut(name) {
                Some(item) if item.is_str() => {
                    let mut entry = toml_edit::InlineTable::new();
                    entry.insert("path", path.into());
                    *item = value(entry);
                }
                Some(item) => {
                    let entry = item.as_table_like_mut();
                    // What is inherited is changed where it is declared.
                    if let Some(entry) = entry.filter(|entry| !entry.contains_key("workspace")) {
                        for key in ORIGIN {
                            entry.remove(key);
                        }
                        entry.insert("path", value(path));
                    }
                }
                None => {}
            }
        }
    }
}

/// Makes relative paths that lead out of the tree absolute. `folder` contains the manifest, and `root` is the tree.
///
/// # Errors
/// If it is not a manifest.
pub fn with_paths(text: &str, folder: &Path, root: &Path) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("not a manifest")?;
    let tree = Tree { folder, root };
    tree.walk(document.as_table_mut());
    Ok(document.to_string())
}

struct Tree<'a> {
    folder: &'a Path,
    root: &'a Path,
}

impl Tree<'_> {
    /// Changes the values of the key `path`, wherever dependencies, patches and replacements have it.
    fn walk(&self, table: &mut dyn TableLike) {
        for (key, item) in table.iter_mut() {
            if let Some(path) = item.as_str().filter(|_| key == "path") {
                if let Some(absolute) = self.outside(path) {
                    *item = value(absolute);
                }
            } else if let Some(inner) = item.as_table_like_mut() {
                self.walk(inner);
            }
        }
    }

    /// The absolute path, if the path leads out of the tree.
    fn outside(&self, path: &str) -> Option<String> {
        if Path::new(path).is_absolute() {
            return None;
        }
        // As cargo does, without the links on the way: the folder need not be there.
        let there = whole(plain(&self.folder.join(path)));
        let root = self.root.canonicalize().ok()?;
        (!there.starts_with(root)).then(|| there.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_replaces_what_was_there_and_leaves_the_rest() {
        let text = "[package]\nname = \"a\" # mine\n\n[dependencies]\ntsc-runtime = \"0.1\"\nserde = \"1\"\n";
        let changed = with_runtime(text, &Runtime::Folder("/r".into())).unwrap();
        assert!(changed.contains("name = \"a\" # mine") && changed.contains("serde = \"1\""));
        assert!(
            changed.contains("tsc-runtime = { path = \"/r\", features = [\"release-builds\"] }"),
            "{changed}"
        );
        assert!(
            with_runtime("[package]\nname = \"a\"\n", &Runtime::Published)
                .unwrap()
                .contains("version = \"=0.")
        );
    }

    #[test]
    fn a_package_alone_becomes_a_workspace() {
        assert!(
            as_root("[package]\nname = \"a\"\n")
                .unwrap()
                .contains("[workspace]")
        );
        let there = "[workspace]\nmembers = [\"b\"]\n";
        assert_eq!(as_root(there).unwrap(), there);
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
    }
}
