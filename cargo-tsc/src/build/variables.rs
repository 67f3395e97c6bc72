//! The environment variables that cargo gives to the programs that it runs, as far as they use them.

use std::ffi::OsString;

use cargo_metadata::{Artifact, BuildScript, Package, PackageId};

/// A name and a value.
type Variable = (String, OsString);

/// What a program may ask of its package.
pub(super) fn of_package(package: &Package) -> Vec<Variable> {
    let folder = package.manifest_path.parent();
    let version = package.version.to_string();
    let own = [
        ("CARGO_MANIFEST_DIR", folder.map_or("", |it| it.as_str())),
        ("CARGO_MANIFEST_PATH", package.manifest_path.as_str()),
        ("CARGO_PKG_NAME", package.name.as_str()),
        ("CARGO_PKG_VERSION", &version),
    ];
    own.map(|(name, value)| (name.to_owned(), value.into()))
        .into()
}

/// What a package's build script has set, and its folder.
pub(super) fn of_scripts(
    scripts: &[BuildScript],
    package: &PackageId,
) -> impl Iterator<Item = Variable> {
    let own = scripts.iter().filter(move |it| it.package_id == *package);
    own.flat_map(|script| {
        let folder = ("OUT_DIR".to_owned(), script.out_dir.clone().into());
        let own = script.env.iter();
        let own = own.map(|(name, value)| (name.clone(), value.into()));
        own.chain([folder])
    })
}

/// The paths of a package's programs, for its tests.
pub(super) fn of_programs(
    artifacts: &[Artifact],
    package: &PackageId,
) -> impl Iterator<Item = Variable> {
    let own = artifacts.iter().filter(move |it| it.package_id == *package);
    let programs = own.filter(|it| it.target.is_bin() && !it.profile.test);
    programs.filter_map(|artifact| {
        let name = format!("CARGO_BIN_EXE_{}", artifact.target.name);
        Some((name, artifact.executable.clone()?.into()))
    })
}
