//! The source files of a project's own crates.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use cargo_metadata::{Package, TargetKind};

use crate::annotate;

/// The files of a package's libraries and binaries. Macros and build scripts are left out, because they run inside the compiler. Tests,
/// benchmarks and examples are left out unless `with_examples` is true.
///
/// # Errors
/// If the root file of a crate cannot be read.
pub fn of_package(package: &Package, with_examples: bool) -> Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    for target in &package.targets {
        let is_wanted = target.kind.iter().any(|kind| match kind {
            TargetKind::ProcMacro | TargetKind::CustomBuild => false,
            TargetKind::Bench | TargetKind::Example | TargetKind::Test => with_examples,
            _ => true,
        });
        if is_wanted {
            let root = target.src_path.as_std_path();
            files.extend(annotate::files_of(root).with_context(|| root.display().to_string())?);
        }
    }
    Ok(files)
}
