//! The runtime as a dependency of the packages in the copy.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use toml_edit::{Array, InlineTable, Item, Table, TableLike, value};

use super::{parsed, set_origin};
use crate::build::{ALWAYS, RUNTIME};
use crate::progress::shown;

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
    ///
    /// # Errors
    /// If the given folder has no manifest.
    pub fn find(given: Option<&Path>) -> Result<Self> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tsc-runtime");
        Ok(match given {
            Some(folder) => {
                let manifest = folder.join("Cargo.toml");
                let is_there = manifest.is_file();
                ensure!(
                    is_there,
                    "{}: there is no {}",
                    who_names(folder),
                    shown(&manifest)
                );
                Self::Folder(std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
            }
            None if beside.join("Cargo.toml").exists() => {
                Self::Folder(beside.canonicalize().unwrap_or(beside))
            }
            None => Self::Published,
        })
    }

    /// The key and the value that say this in a manifest.
    fn origin(&self) -> (&'static str, String) {
        match self {
            Self::Folder(folder) => ("path", folder.display().to_string()),
            Self::Published => (
                "version",
                concat!("=", env!("CARGO_PKG_VERSION")).to_owned(),
            ),
        }
    }

    /// Takes the package's own entries for the runtime from this source, of which cargo accepts only one, and makes them unconditional.
    /// Returns whether one was optional.
    ///
    /// # Errors
    /// If one has another name: the inserted attributes say `tsc_runtime`, and cargo accepts no second name for a package.
    fn replace_in(&self, table: &mut dyn TableLike) -> Result<bool> {
        let (key, text) = self.origin();
        let mut was_optional = false;
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(dependencies) = table.get_mut(kind).and_then(Item::as_table_like_mut) else {
                continue;
            };
            let is_renamed = |(name, item): &(&str, &Item)| {
                *name != RUNTIME && item.get("package").and_then(Item::as_str) == Some(RUNTIME)
            };
            if let Some((name, _)) = dependencies.iter().find(is_renamed) {
                bail!("`{name}` is {RUNTIME} under another name: --all needs it under its own");
            }
            let Some(item) = dependencies.get_mut(RUNTIME) else {
                continue;
            };
            set_origin(item, key, &text);
            let optional = item
                .as_table_like_mut()
                .and_then(|entry| entry.remove("optional"));
            was_optional |= optional.and_then(|item| item.as_bool()) == Some(true);
        }
        Ok(was_optional)
    }
}

/// The variable if it names this folder, otherwise the option, which is stronger.
fn who_names(folder: &Path) -> &'static str {
    let variable = "CARGO_TSC_RUNTIME";
    match std::env::var_os(variable) {
        Some(value) if value == *folder.as_os_str() => variable,
        _ => "--runtime",
    }
}

/// Makes a package depend on the runtime. An entry that it already has keeps its features.
///
/// # Errors
/// If it is not a manifest, or has the runtime under another name.
pub fn with_runtime(text: &str, runtime: &Runtime) -> Result<String> {
    let mut document = parsed(text)?;
    let mut was_optional = runtime.replace_in(document.as_table_mut())?;
    let platforms = document.get_mut("target").and_then(Item::as_table_like_mut);
    for (_, platform) in platforms.into_iter().flat_map(|table| table.iter_mut()) {
        if let Some(platform) = platform.as_table_like_mut() {
            was_optional |= runtime.replace_in(platform)?;
        }
    }
    if was_optional {
        require(table(document.as_table_mut(), "features")?);
    }
    let dependencies = table(document.as_table_mut(), "dependencies")?;
    let entry = dependencies.entry(RUNTIME).or_insert_with(|| {
        let (key, text) = runtime.origin();
        value(InlineTable::from_iter([(key, text)]))
    });
    let entry = entry
        .as_table_like_mut()
        .context("`tsc-runtime` is not a table")?;
    let features = entry.entry("features").or_insert(value(Array::new()));
    let features = features
        .as_array_mut()
        .context("the features of `tsc-runtime` are not an array")?;
    if !features
        .iter()
        .any(|feature| feature.as_str() == Some(ALWAYS))
    {
        features.push(ALWAYS);
    }
    Ok(document.to_string())
}

/// Like [`with_runtime`], for the entry that the packages of a workspace may inherit.
///
/// # Errors
/// As of [`with_runtime`].
pub fn with_inherited_runtime(text: &str, runtime: &Runtime) -> Result<String> {
    let mut document = parsed(text)?;
    let workspace = document.get_mut("workspace");
    if let Some(workspace) = workspace.and_then(Item::as_table_like_mut) {
        runtime.replace_in(workspace)?;
    }
    Ok(document.to_string())
}

/// The table with this name, which is created if it does not exist.
fn table<'a>(document: &'a mut Table, name: &str) -> Result<&'a mut dyn TableLike> {
    let table = document.entry(name).or_insert(Item::Table(Table::new()));
    table
        .as_table_like_mut()
        .with_context(|| format!("`{name}` is not a table"))
}

/// Changes what the features say of the runtime, which was optional and is not any more. It would not be valid, and the code is to see the
/// features that the user has turned on, and no others.
fn require(features: &mut dyn TableLike) {
    let (named, weak, of_it) = (
        format!("dep:{RUNTIME}"),
        format!("{RUNTIME}?/"),
        format!("{RUNTIME}/"),
    );
    let is_named = features.iter().any(|(_, enables)| {
        let mut enables = enables.as_array().into_iter().flatten();
        enables.any(|other| other.as_str() == Some(&named))
    });
    // An optional dependency that no feature names is a feature itself.
    let is_feature = !is_named && !features.contains_key(RUNTIME);
    for (_, enables) in features.iter_mut() {
        let Some(array) = enables.as_array_mut() else {
            continue;
        };
        let mut kept: Vec<String> = Vec::new();
        for other in array.iter().filter_map(|other| other.as_str()) {
            if other == named {
                continue;
            }
            if is_feature && other.starts_with(&of_it) {
                kept.push(RUNTIME.to_owned());
            }
            kept.push(other.replacen(&weak, &of_it, 1));
        }
        *array = Array::from_iter(kept);
    }
    if is_feature {
        features.insert(RUNTIME, value(Array::new()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str) -> String {
        let text = format!("[package]\nname = \"a\" # mine\n\n{text}");
        let changed = with_runtime(&text, &Runtime::Folder("/r".into())).unwrap();
        changed.split_once("# mine\n\n").unwrap().1.to_owned()
    }

    #[test]
    fn runtime_under_another_name_is_an_error_that_says_so() {
        let entry = "tsc = { package = \"tsc-runtime\", version = \"0.1\" }\n";
        for table in ["dependencies", "target.'cfg(unix)'.dev-dependencies"] {
            let text = format!("[package]\nname = \"a\"\n[{table}]\n{entry}");
            let error = with_runtime(&text, &Runtime::Published).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("`tsc` is tsc-runtime under another name")
            );
        }
        let workspace = format!("[workspace.dependencies]\n{entry}");
        assert!(with_inherited_runtime(&workspace, &Runtime::Published).is_err());
    }

    #[test]
    fn runtime_is_added_or_taken_from_elsewhere_and_the_rest_stays() {
        let added = "[dependencies]\ntsc-runtime = { path = \"/r\", features = [\"release-builds\"] }\nserde = \"1\"\n";
        assert_eq!(
            with("[dependencies]\ntsc-runtime = \"0.1\"\nserde = \"1\"\n"),
            added
        );
        assert!(
            with("[dependencies]\nserde = \"1\"\n").contains("tsc-runtime = { path = \"/r\", ")
        );
        let published = with_runtime("[package]\nname = \"a\"\n", &Runtime::Published).unwrap();
        assert!(published.contains("version = \"=0."), "{published}");
    }

    #[test]
    fn an_entry_of_the_package_keeps_its_features() {
        let text = "[dependencies.tsc-runtime]\ngit = \"x\"\nrev = \"y\"\nfeatures = [\"instruments\"]\n\
            [target.'cfg(unix)'.dev-dependencies]\ntsc-runtime = \"0.1\"\n";
        assert_eq!(
            with(text),
            "[dependencies.tsc-runtime]\nfeatures = [\"instruments\", \"release-builds\"]\npath = \"/r\"\n\
            [target.'cfg(unix)'.dev-dependencies]\ntsc-runtime = { path = \"/r\" }\n"
        );
        let inherited = "[dependencies]\ntsc-runtime = { workspace = true }\n";
        assert_eq!(
            with(inherited),
            "[dependencies]\ntsc-runtime = { workspace = true , features = [\"release-builds\"] }\n"
        );
        let workspace = "[workspace.dependencies]\ntsc-runtime = { version = \"0.1\", features = [\"instruments\"] }\n";
        assert_eq!(
            with_inherited_runtime(workspace, &Runtime::Folder("/r".into())).unwrap(),
            "[workspace.dependencies]\ntsc-runtime = { features = [\"instruments\"] , path = \"/r\" }\n"
        );
    }

    #[test]
    fn an_optional_runtime_is_required_and_the_features_stay_valid() {
        let dependency = "[dependencies]\ntsc-runtime = { version = \"0.1\", optional = true }\n";
        let features = |text: &str| {
            let changed = with(&format!("{dependency}[features]\n{text}"));
            assert!(!changed.contains("optional"), "{changed}");
            changed.split_once("[features]\n").unwrap().1.to_owned()
        };
        assert_eq!(
            features("x = [\"dep:tsc-runtime\", \"y\"]\ny = [\"tsc-runtime?/instruments\"]\n"),
            "x = [\"y\"]\ny = [\"tsc-runtime/instruments\"]\n"
        );
        assert_eq!(
            features("x = [\"tsc-runtime/instruments\"]\ny = [\"tsc-runtime\"]\n"),
            "x = [\"tsc-runtime\", \"tsc-runtime/instruments\"]\ny = [\"tsc-runtime\"]\ntsc-runtime = []\n"
        );
        assert!(with(dependency).contains("[features]\ntsc-runtime = []\n"));
    }
}
