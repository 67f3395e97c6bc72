//! The source files of a project's own crates.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{Package, Target, TargetKind};

use crate::annotate::{self, Files};

/// The files that can be annotated in the packages of a workspace.
#[derive(Debug)]
pub struct Sources {
    /// The files of build scripts and macros, which are compiled without the runtime.
    bare: BTreeSet<PathBuf>,
}

impl Sources {
    /// The files in these packages.
    #[must_use]
    pub fn new(members: &[&Package]) -> Self {
        let targets = members.iter().flat_map(|package| &package.targets);
        let roots = targets.filter(|target| runs_in_compiler(target));
        // What cannot be read cannot be compiled either.
        let files =
            roots.filter_map(|target| annotate::files_of(target.src_path.as_std_path()).ok());
        let bare = files.flat_map(Files::all).map(whole).collect();
        Self { bare }
    }

    /// The files of a package's libraries and binaries. Macros and build scripts are left out, because they run inside the compiler, and so
    /// are the files that one of them shares with the package, which `say` is told. Tests, benchmarks and examples are left out unless
    /// `with_examples` is true. `files_of` gives the files of a crate by that of its root.
    ///
    /// # Errors
    /// If the root file of a crate cannot be read.
    pub fn of(
        &self,
        package: &Package,
        with_examples: bool,
        files_of: fn(&Path) -> io::Result<Files>,
        say: &mut dyn FnMut(String),
    ) -> Result<BTreeSet<PathBuf>> {
        let mut files = BTreeSet::new();
        for target in &package.targets {
            let is_wanted = target.kind.iter().any(|kind| match kind {
                TargetKind::Bench | TargetKind::Example | TargetKind::Test => with_examples,
                _ => true,
            });
            if is_wanted && !runs_in_compiler(target) {
                let root = target.src_path.as_std_path();
                let found = files_of(root).with_context(|| root.display().to_string())?;
                files.extend(found.code);
            }
        }
        files.retain(|file| {
            let is_bare = self.bare.contains(&whole(file.clone()));
            if is_bare {
                say(format!(
                    "{}: left as it is, because a build script or a macro includes it, too",
                    file.display()
                ));
            }
            !is_bare
        });
        Ok(files)
    }
}

fn runs_in_compiler(target: &Target) -> bool {
    let is_one =
        |kind: &TargetKind| matches!(kind, TargetKind::ProcMacro | TargetKind::CustomBuild);
    target.kind.iter().any(is_one)
}

/// The path without `..` of a file in the folder `root`. `None` if the file is elsewhere, or reached through a link.
#[must_use]
pub fn place(root: &Path, file: &Path) -> Option<PathBuf> {
    let place = plain(file);
    let inner = place.strip_prefix(root).ok()?;
    (whole(file.to_owned()) == whole(root.to_owned()).join(inner)).then_some(place)
}

/// The path without `..`, as text. If the path has links, it may lead elsewhere.
#[must_use]
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The path without links and without `..`. Its end may not exist yet.
#[must_use]
pub fn whole(path: PathBuf) -> PathBuf {
    let mut beginnings = path.ancestors();
    let found = beginnings.find_map(|of| Some((of.canonicalize().ok()?, path.strip_prefix(of))));
    match found {
        Some((whole, Ok(end))) if end != Path::new("") => plain(&whole.join(end)),
        Some((whole, _)) => whole,
        None => path,
    }
}

/// The path without links and without `..`, as cargo names a folder in which it is started. On Windows, links stay,
/// because a path without them has a form there that cargo does not use.
#[must_use]
pub fn on_disk(path: &Path) -> PathBuf {
    match cfg!(windows) {
        true => plain(path),
        false => whole(path.to_owned()),
    }
}
