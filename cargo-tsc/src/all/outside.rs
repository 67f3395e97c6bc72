//! Files of a project that are outside of its folder, to which `#[path = "../…"]` or `include_str!("../…")` leads. In the copy, the same
//! path must lead to a copy of the file. So the copy is in as many folders of its own as such a path leaves.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::copy::sync_file;
use super::folder::Folder;
use crate::annotate::{self, Files};
use crate::build::Project;
use crate::sources::plain;

/// The name of each of those folders.
const UP: &str = ".up";

/// The files, and how many folders they are above the project.
#[derive(Debug, Default)]
pub struct Outside {
    levels: usize,
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    levels: usize,
    /// The path from the folder in which the last `..` ends.
    rest: PathBuf,
}

impl Outside {
    /// The files of a project's members.
    ///
    /// # Errors
    /// If a whole member is outside of the workspace.
    pub fn new(project: &Project) -> Result<Self> {
        let members = project.metadata().workspace_packages();
        for member in &members {
            let folder = member.manifest_path.parent();
            if let Some(folder) = folder.filter(|folder| !folder.starts_with(project.root())) {
                let (name, root) = (&member.name, project.root().display());
                bail!(
                    "`--all` copies the folder of the workspace, {root}, and its member {name} is outside of it, in {folder}: move {name} into that \
                     folder, or take it out of the workspace; as a dependency with a path, `--with {name}` measures it, too"
                );
            }
        }
        let targets = members.iter().flat_map(|package| &package.targets);
        // What cannot be read, the compiler complains about.
        let files =
            targets.filter_map(|target| annotate::files_of(target.src_path.as_std_path()).ok());
        Ok(Self::of(project.root(), files.flat_map(Files::all)))
    }

    fn of(root: &Path, files: impl Iterator<Item = PathBuf>) -> Self {
        let mut outside = Self::default();
        for path in files {
            let place = plain(&path);
            if place.starts_with(root) {
                continue;
            }
            let ancestors = root.ancestors().zip(0..);
            let found = ancestors
                .filter_map(|(above, levels)| Some((levels, place.strip_prefix(above).ok()?)))
                .next();
            if let Some((levels, rest)) = found {
                let rest = rest.to_owned();
                outside.levels = outside.levels.max(levels);
                outside.files.push(File { path, levels, rest });
            }
        }
        outside
    }

    /// The folder of a copy in `folder`, with a name that begins with `name`.
    #[must_use]
    pub fn copy(&self, folder: &Path, name: &str) -> PathBuf {
        let mut copy = folder.join(self.name(name));
        copy.extend((0..self.levels).map(|_| UP));
        copy
    }

    /// Opens the same folder, and copies the files to where they are seen from it.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn open(&self, all: &Folder, name: &str) -> Result<Folder> {
        let mut levels = vec![all.folder(OsStr::new(&self.name(name)))?];
        for level in 0..self.levels {
            levels.push(levels[level].folder(OsStr::new(UP))?);
        }
        for file in &self.files {
            let context = || file.path.display().to_string();
            let mut folder = &levels[self.levels - file.levels];
            let mut opened;
            let inner = file.rest.parent().unwrap_or(Path::new(""));
            for part in inner.components() {
                if let Component::Normal(part) = part {
                    opened = folder.folder(part).with_context(context)?;
                    folder = &opened;
                }
            }
            let name = file.rest.file_name().unwrap_or_default();
            sync_file(&file.path, folder, name).with_context(context)?;
        }
        levels.pop().context("no folder")
    }

    /// The name of the outermost folder of that copy.
    #[must_use]
    pub fn name(&self, name: &str) -> String {
        match self.levels {
            0 => name.to_owned(),
            levels => format!("{name}-{levels}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::write;
    use std::fs;

    #[test]
    fn the_same_path_leads_to_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("work/project");
        let paths = ["../../far/a.rs", "../near/deep/b.rs", "src/../c.rs"];
        for path in paths {
            let path = plain(&root.join(path));
            write(&path, path.file_name().unwrap().as_encoded_bytes());
        }
        fs::create_dir_all(root.join("src")).unwrap();
        let files = paths.map(|path| root.join(path));
        let outside = Outside::of(&root, files.into_iter());
        let all = Folder::open(dir.path(), "all").unwrap();
        let copy = outside.copy(&dir.path().join("all"), "copy");
        for _ in 0..2 {
            let folder = outside.open(&all, "copy").unwrap();
            folder.write(OsStr::new("here"), b"", None).unwrap();
            assert!(copy.join("here").exists());
        }
        let read = |path: &str| fs::read_to_string(plain(&copy.join(path))).ok();
        assert_eq!(
            paths.map(read),
            [Some("a.rs".into()), Some("b.rs".into()), None]
        );
        let none = Outside::of(&root, std::iter::once(root.join("src/../c.rs")));
        assert_eq!(none.copy(Path::new("all"), "copy"), Path::new("all/copy"));
    }
}
