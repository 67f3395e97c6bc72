//! What a command builds, as `cargo tree` says it. Cargo's metadata also has the dependencies of tests that are not built, and what only
//! features that are off depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::Result;
use cargo_metadata::{Package, PackageId};

use super::command::CONFIG;
use super::selection::{cargo, said};
use super::{CargoCommand, Project};

/// A package's name and version.
type Named = (String, String);

/// The packages that a command builds.
#[derive(Debug)]
pub struct Built {
    /// What is compiled into the programs: neither macros, nor what only they and build scripts use.
    program: BTreeSet<Named>,
    /// This, and what is built for it, if that was asked for.
    all: Option<BTreeSet<Named>>,
}

impl Built {
    /// Asks cargo what the command builds of the selected packages, without `except` and what only that uses. What is built for the programs
    /// only with `asks_all`, because each question takes a tenth of a second.
    ///
    /// # Errors
    /// If cargo reports an error.
    pub fn find(
        command: &CargoCommand,
        project: &Project,
        selected: &[PackageId],
        except: &[&str],
        asks_all: bool,
    ) -> Result<Self> {
        let tests = if command.has_tests() { ",dev" } else { "" };
        let ask = |edges: &str| {
            let mut question = question(command, selected);
            question.current_dir(project.here());
            question.args(["--edges", &format!("{edges}{tests}")]);
            said(question).map(|tree| reached(&tree, except))
        };
        Ok(Self {
            program: ask("normal,no-proc-macro")?,
            all: asks_all.then(|| ask("normal,build")).transpose()?,
        })
    }

    /// Whether the package is compiled into a program.
    #[must_use]
    pub fn is_in_program(&self, package: &Package) -> bool {
        self.program.contains(&named(package))
    }

    /// Whether the package is built, be it for a program or for what builds it. Of the latter, nothing is known if it was not asked for.
    #[must_use]
    pub fn has(&self, package: &Package) -> bool {
        let built = self.all.as_ref().unwrap_or(&self.program);
        built.contains(&named(package))
    }
}

fn named(package: &Package) -> Named {
    (package.name.to_string(), package.version.to_string())
}

/// The question to cargo, but for the kinds of dependencies. Each line of the answer has its depth and a package.
fn question(command: &CargoCommand, selected: &[PackageId]) -> Command {
    let mut question = cargo();
    question.args(["tree", "--color", "never", "--prefix", "depth"]);
    question.args(["--format", " {p}"]);
    for id in selected {
        question.args(["--package", &id.repr]);
    }
    for (option, short) in [
        ("--features", Some("-F")),
        ("--target", None),
        (CONFIG, None),
    ] {
        for value in command.values(option, short) {
            question.arg(option).arg(value);
        }
    }
    let flags = [
        "--all-features",
        "--no-default-features",
        "--offline",
        "--locked",
        "--frozen",
    ];
    question.args(flags.iter().filter(|flag| command.has(&[flag])));
    question
}

/// The packages in cargo's answer that others than `except` lead to. Of a package that is there more than once, only the first place has
/// what it depends on.
fn reached(tree: &str, except: &[&str]) -> BTreeSet<Named> {
    let mut uses: BTreeMap<Named, BTreeSet<Named>> = BTreeMap::new();
    let (mut above, mut left): (Vec<Named>, Vec<Named>) = (Vec::new(), Vec::new());
    for line in tree.lines() {
        let mut words = line.split(' ');
        let depth = words.next().and_then(|word| word.parse().ok());
        let version = |word: &str| word.strip_prefix('v').map(str::to_owned);
        let package = words.next().zip(words.next().and_then(version));
        let (Some(depth), Some((name, version))) = (depth, package) else {
            continue;
        };
        let package = (name.to_owned(), version);
        above.truncate(depth);
        match above.last() {
            Some(user) => drop(
                uses.entry(user.clone())
                    .or_default()
                    .insert(package.clone()),
            ),
            None => left.push(package.clone()),
        }
        above.push(package);
    }
    let mut reached = BTreeSet::new();
    while let Some(package) = left.pop() {
        if !except.contains(&&*package.0) && reached.insert(package.clone()) {
            left.extend(uses.get(&package).into_iter().flatten().cloned());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_an_exception_uses_is_left_out() {
        let tree = "0 app v0.1.0 (/app)\n1 ours v1.0.0\n2 shared v1.0.0+x\n3 deep v2.0.0\n2 own v1.0.0\n1 user v1.0.0\n2 shared v1.0.0+x (*)\n\n\
            0 other v0.1.0 (/other)\n1 made v1.0.0 (proc-macro)\n";
        let reached = reached(tree, &["ours"]);
        let names = reached
            .iter()
            .map(|(name, version)| format!("{name} {version}"));
        assert_eq!(
            names.collect::<Vec<_>>().join(", "),
            "app 0.1.0, deep 2.0.0, made 1.0.0, other 0.1.0, shared 1.0.0+x, user 1.0.0"
        );
    }
}
