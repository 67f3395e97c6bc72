//! How cargo builds a copy.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Copies;
use crate::all::rustc;
use crate::build::{Build, Project, sharing, wrappers};

impl Copies<'_> {
    /// The environment of cargo. Of `dependencies`, the paths are those of the originals, as those of the project are.
    pub(super) fn environment(
        &self,
        wrapper: &Path,
        copy: &Path,
        lints: &str,
        dependencies: BTreeMap<PathBuf, PathBuf>,
    ) -> Vec<(OsString, OsString)> {
        let with_dependencies = !dependencies.is_empty();
        let mut prefixes = dependencies;
        prefixes.insert(copy.to_owned(), self.original.root().to_owned());
        let mut environment = wrappers::environment(&self.command, wrapper, with_dependencies);
        environment.extend(rustc::environment(&prefixes, lints));
        environment.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        environment
    }

    /// The build of a copy.
    pub(super) fn build<'b>(
        &'b self,
        project: &'b Project,
        target: &str,
        title: &str,
        environment: Vec<(OsString, OsString)>,
    ) -> Build<'b> {
        Build {
            project,
            command: &self.command,
            folder: project.here(),
            target: Some(self.folder.join(target)),
            intermediate: sharing::can_share(project).then(|| self.folder.join("build")),
            environment,
            title: title.to_owned(),
        }
    }
}
