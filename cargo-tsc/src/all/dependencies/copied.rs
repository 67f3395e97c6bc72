//! A crate outside of the workspace, and where its copy is.

use std::path::{Path, PathBuf};

use cargo_metadata::{Package, Target, TargetKind};

use crate::all::remembered::digest;
use crate::sources::whole;

/// The folder of the copies, in that of the project's copies.
pub const WITH: &str = "with";

/// What cargo does not build of a dependency.
const OTHERS: [TargetKind; 4] = [
    TargetKind::Bench,
    TargetKind::Bin,
    TargetKind::Example,
    TargetKind::Test,
];

/// A crate that is copied.
#[derive(Debug)]
pub struct Copied {
    /// Cargo's description of the original.
    pub package: Package,
    /// The folder of the package.
    pub original: PathBuf,
    /// The folder of its copy.
    pub copy: PathBuf,
    /// What is copied with it. `None` if the project's folder contains it.
    pub folder: Option<CopiedFolder>,
    /// Whether its functions are annotated.
    pub is_annotated: bool,
}

/// A folder that is copied whole: that of a package, or of the repository or workspace that contains it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopiedFolder {
    /// The original.
    pub original: PathBuf,
    /// The folder of its copy, and the folder in [`WITH`] that contains this.
    pub names: [String; 2],
}

/// Where a project and its copies are.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The folder of all copies.
    pub all: &'a Path,
    /// The copy of which cargo was asked, as cargo names it.
    pub asked: &'a Path,
    /// The annotated copy.
    pub annotated: &'a Path,
    /// The project.
    pub original: &'a Path,
    /// A digest of what decides beside the files whether they compile.
    pub with: u64,
}

impl Places<'_> {
    /// The path of a package's folder, which is in the annotated copy if cargo has named it in the other one. If the crates had both, a lock
    /// file could not tell them apart.
    #[must_use]
    pub fn in_annotated(&self, folder: &Path) -> PathBuf {
        match folder.strip_prefix(self.asked) {
            Ok(inner) => self.annotated.join(inner),
            Err(_) => folder.to_owned(),
        }
    }
}

impl Copied {
    /// The copy of a package. Of another's package, programs and tests are not built.
    #[must_use]
    pub fn new(mut package: Package, is_annotated: bool, places: Places<'_>) -> Self {
        package.targets.retain(|target| {
            let mut kinds = target.kind.iter();
            kinds.any(|kind| !OTHERS.contains(kind))
        });
        let folder = folder(&package);
        if let Some(inner) = inside(&package, places.asked) {
            return Self {
                package,
                original: places.original.join(&inner),
                copy: places.annotated.join(inner),
                folder: None,
                is_annotated,
            };
        }
        let whole = CopiedFolder::of(&package, &folder);
        let inner = folder
            .strip_prefix(&whole.original)
            .unwrap_or(Path::new(""));
        Self {
            copy: whole.copy(places.all).join(inner),
            original: folder,
            package,
            folder: Some(whole),
            is_annotated,
        }
    }

    /// The build script, if there is one, and the library.
    #[must_use]
    pub fn targets(&self) -> (Option<&Target>, Option<&Target>) {
        let is_script = |target: &&Target| target.kind.contains(&TargetKind::CustomBuild);
        let mut targets = self.package.targets.iter();
        let library = targets.clone().find(|target| !is_script(target));
        (targets.find(is_script), library)
    }

    /// The path in the original of a file as cargo names it.
    #[must_use]
    pub fn original_of(&self, file: &Path) -> PathBuf {
        match file.strip_prefix(folder(&self.package)) {
            Ok(inner) => self.original.join(inner),
            Err(_) => file.to_owned(),
        }
    }
}

impl CopiedFolder {
    fn of(package: &Package, folder: &Path) -> Self {
        let is_git = || {
            let source = package.source.as_ref();
            source.is_some_and(|source| source.repr.starts_with("git+"))
        };
        let whole = if package.source.is_none() {
            folder
                .ancestors()
                .filter(|above| is_workspace(above))
                .last()
        } else if is_git() {
            folder
                .ancestors()
                .find(|above| above.join(".cargo-ok").exists())
        } else {
            None
        };
        let original = whole.unwrap_or(folder).to_owned();
        let name = original.file_name().unwrap_or_default();
        Self {
            names: [
                format!("{:016x}", digest(original.parent())),
                name.display().to_string(),
            ],
            original,
        }
    }

    fn copy(&self, all: &Path) -> PathBuf {
        let [above, name] = &self.names;
        all.join(WITH).join(above).join(name)
    }

    /// The copy of the folder that contains the original, and that folder.
    #[must_use]
    pub fn prefix(&self, all: &Path) -> (PathBuf, PathBuf) {
        let above = self.original.parent().unwrap_or(&self.original);
        (all.join(WITH).join(&self.names[0]), above.to_owned())
    }
}

fn folder(package: &Package) -> PathBuf {
    let folder = package.manifest_path.parent();
    folder.map_or_else(PathBuf::new, |folder| folder.as_std_path().to_owned())
}

/// The path of a package in the folder of a project. `None` if the package is elsewhere.
pub fn inside(package: &Package, root: &Path) -> Option<PathBuf> {
    let folder = whole(folder(package));
    let inner = folder.strip_prefix(whole(root.to_owned())).ok()?;
    Some(inner.to_owned())
}

/// Whether the manifest in a folder is that of a workspace.
#[must_use]
pub fn is_workspace(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
    manifest.is_ok_and(|text| {
        text.lines()
            .any(|line| line.trim().starts_with("[workspace"))
    })
}
