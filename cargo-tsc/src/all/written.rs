//! What was written into a copy. What a build script has written there since stays, because cargo does not run the script again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::remembered::{self, digest};

/// It depends on nothing else.
const ALWAYS: u64 = 0;

/// Digests of a file in the project, and of the one in the copy.
type Digests = [u64; 2];

/// What the last update of a copy has written, and what this one does.
#[derive(Debug, Default)]
pub struct Written {
    /// The project.
    root: PathBuf,
    /// By digests of paths. `None` if nothing is known of the copy, in which everything is made equal then.
    before: Option<BTreeMap<u64, Digests>>,
    now: BTreeMap<u64, Digests>,
}

impl Written {
    /// What `file` says of a copy of `root`. Until it is [kept](Self::keep) again, nothing is known of the copy.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn take(file: &Path, root: &Path) -> Result<Self> {
        let before: Option<Vec<_>> = remembered::read(file, ALWAYS);
        if file.exists() {
            fs::remove_file(file)?;
        }
        Ok(Self {
            root: root.to_owned(),
            before: before.map(BTreeMap::from_iter),
            now: BTreeMap::new(),
        })
    }

    /// Keeps it for the next update.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(self, file: &Path) -> Result<()> {
        let paths: Vec<_> = self.now.into_iter().collect();
        remembered::write(file, ALWAYS, &paths)
    }

    /// Notes that the copy has something at this path of the project.
    pub(super) fn add(&mut self, path: &Path) {
        let key = self.key(path);
        self.now.entry(key).or_default();
    }

    /// Notes a file's contents.
    pub(super) fn add_file(&mut self, path: &Path, original: &[u8], copied: &[u8]) {
        let key = self.key(path);
        self.now.insert(key, [original, copied].map(digest));
    }

    /// Whether an earlier update may have made what the copy has at this path.
    pub(super) fn has(&self, path: &Path) -> bool {
        let key = self.key(path);
        self.before
            .as_ref()
            .is_none_or(|before| before.contains_key(&key))
    }

    /// Whether a build script has changed the file that is `there`, since the project's file is what it is. Notes it again then.
    pub(super) fn keeps(&mut self, path: &Path, original: &[u8], there: &[u8]) -> bool {
        let key = self.key(path);
        let Some(&digests) = self.before.as_ref().and_then(|before| before.get(&key)) else {
            return false;
        };
        let [of, copied] = digests;
        let is_changed = of == digest(original) && copied != digest(there) && original != there;
        if is_changed {
            self.now.insert(key, digests);
        }
        is_changed
    }

    fn key(&self, path: &Path) -> u64 {
        digest(path.strip_prefix(&self.root).unwrap_or(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all::copy::{Replaced, sync};
    use crate::all::folder::Folder;
    use crate::test_files::write;

    #[test]
    fn what_a_build_script_has_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = |path: &str| dir.path().join(path);
        let (from, record) = (path("from"), path("record"));
        let sync = |annotated: &str| {
            let to = Folder::open(dir.path(), "to").unwrap();
            let mut written = Written::take(&record, &from).unwrap();
            let replaced = Replaced::from([(path("from/a.rs"), annotated.into())]);
            sync(&from, &to, &[], &replaced, &mut written).unwrap();
            written.keep(&record).unwrap();
            ["to/a.rs", "to/b.rs", "to/made/c.rs"]
                .map(|file| fs::read_to_string(path(file)).unwrap_or_default())
        };
        let write = |file: &str, text: &str| write(&path(file), text);
        write("from/a.rs", "a");
        write("from/b.rs", "b");
        assert_eq!(sync("#a"), ["#a", "b", ""]);
        for file in ["to/a.rs", "to/b.rs", "to/made/c.rs"] {
            write(file, "made");
        }
        assert_eq!(sync("##a"), ["made"; 3]);
        assert_eq!(sync("##a"), ["made"; 3]);
        // What is as in the project is annotated, and what has changed there is copied.
        write("to/a.rs", "a");
        write("from/b.rs", "bb");
        assert_eq!(sync("##a"), ["##a", "bb", "made"]);
        assert_eq!(sync("#a"), ["#a", "bb", "made"]);
        // What the project no longer has is removed.
        fs::remove_file(path("from/b.rs")).unwrap();
        write("from/made/c.rs", "c");
        assert_eq!(sync("#a"), ["#a", "", "c"]);
        // Without the record, everything is as in the project.
        write("to/a.rs", "made");
        write("to/made/d.rs", "made");
        fs::remove_file(&record).unwrap();
        assert_eq!(sync("#a"), ["#a", "", "c"]);
        assert!(!path("to/made/d.rs").exists());
    }
}
