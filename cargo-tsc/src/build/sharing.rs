//! Builds copies of one project in one folder, so that their common dependencies are built once.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use cargo_metadata::CrateType;

use super::Project;

/// The path of this program as the wrapper of rustc for a copy with this number. Cargo builds a package separately for each wrapper, and
/// distinguishes wrappers by their paths as written: `/a/cargo-tsc`, `/a/../a/cargo-tsc`, and so on. Clippy relies on that, too.
#[must_use]
pub fn wrapper(number: usize) -> PathBuf {
    let this = std::env::current_exe().unwrap_or_else(|_| "cargo-tsc".into());
    let this = this.canonicalize().unwrap_or(this);
    let (Some(folder), Some(program)) = (this.parent(), this.file_name()) else {
        return this;
    };
    let Some(name) = folder.file_name() else {
        return this;
    };
    let path = (0..number).fold(folder.to_owned(), |path, _| path.join("..").join(name));
    path.join(program)
}

/// Whether this is the program before whose arguments cargo puts a wrapper: rustc, or another in its place.
#[must_use]
pub fn is_rustc(program: &Path) -> bool {
    let stem = program.file_stem().map(OsStr::to_string_lossy);
    stem.is_some_and(|stem| stem.contains("rustc"))
}

/// Whether copies of a project can be built in one folder. The wrapper makes the difference between the copies' members, and cargo shows it
/// in the names of files, except those of dynamic libraries and of programs on Windows. Other packages in the project's folder have no
/// wrapper. In these cases one copy's file would replace the other's, so each copy has a folder of its own.
#[must_use]
pub fn can_share(project: &Project) -> bool {
    let metadata = project.metadata();
    let mut packages = metadata.packages.iter();
    let is_other = |package: &cargo_metadata::Package| {
        package.manifest_path.starts_with(project.root())
            && !metadata.workspace_members.contains(&package.id)
            && package.source.is_none()
    };
    let members = metadata.workspace_packages();
    let mut targets = members.iter().flat_map(|package| &package.targets);
    let is_dynamic = |kind: &CrateType| matches!(kind, CrateType::DyLib | CrateType::CDyLib);
    cfg!(unix)
        && wrapper(1) != wrapper(0)
        && !packages.any(is_other)
        && !targets.any(|target| target.crate_types.iter().any(is_dynamic))
}
