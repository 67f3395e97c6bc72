//! The versions of crates in the copies: those of the project's lock file, unless the runtime needs newer ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use regex_lite::Regex;
use toml_edit::{DocumentMut, Item};

use super::{BARE, Copies};
use crate::build::Project;

impl Copies<'_> {
    /// Cargo's metadata about a copy. Cargo does not add the runtime if the lock file has a crate in a version that is too old for it, because a
    /// program has only one of two compatible versions. Such crates are updated in the copy.
    ///
    /// # Errors
    /// If cargo cannot tell, or cannot update a crate.
    pub(super) fn find(&self, copy: &Path) -> Result<Project> {
        let folder = copy.join(&self.inner);
        let mut old = BTreeSet::new();
        loop {
            let updated = match old.is_empty() {
                true => Ok(()),
                false => Project::update(&self.command, &folder, &old),
            };
            let found = updated.and_then(|()| Project::find(&self.command, &folder));
            let Err(error) = &found else {
                return found;
            };
            let message = format!("{error:#}");
            let known = old.len();
            old.extend(too_old(&message));
            if old.len() == known {
                return match advice(&message, &old) {
                    Some(advice) => found.context(advice),
                    None => found,
                };
            }
        }
    }

    /// What is said of the crates that are newer in the copies than in the project.
    #[must_use]
    pub fn newer(&self) -> Option<String> {
        let copy = self.outside.copy(&self.folder, BARE);
        let [own, copied] = [self.original.root(), &copy].map(versions);
        let newer = copied.difference(&own);
        let newer = newer.filter_map(|(name, version)| {
            let (_, old) = own.difference(&copied).find(|(older, _)| older == name)?;
            Some(format!("{name} {version} for {old}"))
        });
        let newer: Vec<String> = newer.collect();
        let why = "newer than in Cargo.lock, because the runtime or the manifest needs it";
        (!newer.is_empty()).then(|| format!("with {}: {why}", newer.join(", ")))
    }
}

/// Why cargo cannot add the runtime, as far as that is known, and what to do.
fn advice(message: &str, old: &BTreeSet<String>) -> Option<String> {
    if message.contains("directory source") {
        return Some("the vendored packages lack some of the runtime's; `cargo vendor --sync` with the manifest of tsc-runtime adds them".to_owned());
    }
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let needs = "the runtime needs newer versions than Cargo.lock has of";
    (!old.is_empty()).then(|| format!("{needs} {}", old.join(", ")))
}

/// The crates of the lock file that keep cargo from choosing others, with their versions, as cargo takes them on the command line.
fn too_old(message: &str) -> BTreeSet<String> {
    let named = Regex::new(r"previously selected package `(\S+) v([^\s`]+)").expect("it is valid");
    let named = named.captures_iter(message);
    named.map(|of| format!("{}@{}", &of[1], &of[2])).collect()
}

/// The names and versions of the packages in the lock file of a folder.
fn versions(folder: &Path) -> BTreeSet<(String, String)> {
    let text = fs::read_to_string(folder.join("Cargo.lock")).unwrap_or_default();
    let lock = text.parse::<DocumentMut>().unwrap_or_default();
    let packages = lock.get("package").and_then(Item::as_array_of_tables);
    let field = |package: &toml_edit::Table, key| Some(package.get(key)?.as_str()?.to_owned());
    let packages = packages.into_iter().flatten();
    packages
        .filter_map(|package| Some((field(package, "name")?, field(package, "version")?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_that_are_too_old_are_those_that_cargo_names() {
        let message = "failed to select a version for `libc`.: versions that meet the requirements `^0.2.174` are: 0.2.175: all possible versions conflict with previously selected packages.: previously selected package `libc v0.2.150`: ... which satisfies dependency `libc = \"^0.2\"` (locked to 0.2.150) of package `app v0.1.0 (/app)`: previously selected package `own v1.0.0 (/own)`";
        let old = ["libc@0.2.150", "own@1.0.0"].map(str::to_owned);
        assert_eq!(too_old(message), old.into());
        assert!(too_old("could not find `Cargo.toml`").is_empty());
    }

    #[test]
    fn what_the_runtime_lacks_is_said() {
        let vendored = "no matching package named `syn` found: location searched: directory source `/app/vendor` (which is replacing registry `crates-io`)";
        let of =
            |message, old: &[&str]| advice(message, &old.iter().map(|it| (*it).into()).collect());
        assert!(of(vendored, &[]).is_some_and(|it| it.contains("cargo vendor --sync")));
        assert!(of("no network", &["libc@0.2.150"]).is_some_and(|it| it.ends_with("libc@0.2.150")));
        assert_eq!(of("could not find `Cargo.toml`", &[]), None);
    }
}
