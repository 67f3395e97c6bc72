//! Updates a copy of a source tree. Files that did not change are not written, so that cargo only rebuilds what changed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result};

use super::folder::{Folder, Kind};
use super::written::Written;
use crate::sources::on_disk;

/// Files whose contents differ between the copy and the original.
pub type Replaced = std::collections::BTreeMap<PathBuf, Vec<u8>>;

/// What marks a folder as one that can be made again, such as cargo's target folders.
const CACHE: &str = "CACHEDIR.TAG";

/// The size of files from which the copy has a link to the original, which may be larger than the memory. A build script could change the
/// original through it, so nothing that one writes is as large.
const LARGE: u64 = 64 << 20;

/// Cargo's lock file.
const LOCK: &str = "Cargo.lock";

/// The paths in `from` that no copy of it has: what is built, with the copies themselves, and what copies have of their own. A user may name
/// `from` by a link, but not `target`.
#[must_use]
pub fn left_out(from: &Path, target: &Path) -> Vec<PathBuf> {
    let own = ["target", ".git", LOCK].map(|name| from.join(name));
    let inner = target.strip_prefix(on_disk(from)).ok();
    own.into_iter()
        .chain(inner.map(|inner| from.join(inner)))
        .collect()
}

/// Makes `to` a copy of `from`, without caches and the paths in `leave_out`, and with the contents in `replaced` (paths as in `from`). What
/// may not be read or is gone meanwhile is left out, too, because it is rarely part of the program; if it is, cargo says that it is missing.
/// What build scripts have added or changed in the copy since it was `written` stays.
///
/// # Errors
/// If another file cannot be read, or one cannot be written.
pub fn sync(
    from: &Path,
    to: &Folder,
    leave_out: &[PathBuf],
    replaced: &Replaced,
    written: &mut Written,
) -> Result<()> {
    let mut present = BTreeSet::new();
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (source, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type()?;
        let is_cache = kind.is_dir() && source.join(CACHE).is_file();
        if is_cache || leave_out.contains(&source) {
            continue;
        }
        let synced = if kind.is_symlink() {
            sync_link(&source, to, &name)
        } else if kind.is_dir() {
            let folder = to.folder(&name).map_err(anyhow::Error::from);
            folder.and_then(|folder| sync(&source, &folder, leave_out, replaced, written))
        } else if kind.is_file() {
            match replaced.get(&source) {
                None if cfg!(unix) && is_large(&source) => link(&source, to, &name),
                replaced => sync_own(&source, to, &name, replaced.map(Vec::as_slice), written),
            }
        } else {
            Ok(())
        };
        if synced.is_err() && !can_be_read(&source, kind) {
            continue;
        }
        synced.with_context(|| source.display().to_string())?;
        written.add(&source);
        present.insert(name);
    }
    let is_left = |name: &OsStr| !present.contains(name) && written.has(&from.join(name));
    remove(to, is_left).with_context(|| from.display().to_string())
}

/// Makes a file in the copy equal to `source`, with its permissions.
///
/// # Errors
/// If it cannot be read or written.
pub fn sync_file(source: &Path, to: &Folder, name: &OsStr) -> Result<()> {
    sync_own(source, to, name, None, &mut Written::default())
}

/// Makes a file in the copy equal to `source`, or to `replaced`, with the permissions of `source`, unless a build script has changed it.
fn sync_own(
    source: &Path,
    to: &Folder,
    name: &OsStr,
    replaced: Option<&[u8]>,
    written: &mut Written,
) -> Result<()> {
    let original = fs::read(source)?;
    let wanted = replaced.unwrap_or(&original);
    let there = match to.kind(name) {
        Some(Kind::File) => to.read(name).ok(),
        _ => None,
    };
    if there
        .as_ref()
        .is_some_and(|there| written.keeps(source, &original, there))
    {
        return Ok(());
    }
    written.add_file(source, &original, wanted);
    let permissions = fs::metadata(source)?.permissions();
    if there.is_some_and(|there| there == wanted) {
        return Ok(to.permit(name, permissions)?);
    }
    Ok(to.write(name, wanted, Some(permissions))?)
}

/// Makes a link in the copy that leads where the original one does.
fn sync_link(source: &Path, to: &Folder, name: &OsStr) -> Result<()> {
    let target = fs::read_link(source)?;
    let target = source
        .parent()
        .map_or(target.clone(), |folder| folder.join(&target));
    link(&target, to, name)
}

fn link(target: &Path, to: &Folder, name: &OsStr) -> Result<()> {
    if to.target(name).is_some_and(|there| there == target) {
        return Ok(());
    }
    Ok(to.link(name, target)?)
}

fn is_large(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|of| of.len() > LARGE)
}

/// Whether a file or folder is still there, and may be read.
fn can_be_read(path: &Path, kind: fs::FileType) -> bool {
    let opened = match kind {
        _ if kind.is_dir() => fs::read_dir(path).map(drop),
        _ if kind.is_file() => fs::File::open(path).map(drop),
        _ => Ok(()),
    };
    let missing = [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound];
    !opened.is_err_and(|error| missing.contains(&error.kind()))
}

/// Copies the project's lock file if it is another one than before. Cargo adds the runtime to it in the copy, and need not do this again
/// as long as the original stays the same, and `also`, which it depends on, too. So these are kept in `beside`, under a name that begins
/// with `name`.
///
/// # Errors
/// If the file cannot be read or written.
pub fn sync_lock(
    from: &Path,
    to: &Folder,
    beside: &Folder,
    name: &OsStr,
    also: &[u8],
) -> Result<()> {
    let lock = OsStr::new(LOCK);
    let mut copied = name.to_owned();
    copied.push(".lock");
    let wanted = match fs::read(from.join(lock)) {
        Ok(wanted) => wanted,
        // Without a lock file of the project, that of the copy stays, unless it was made from one.
        Err(_) if beside.kind(&copied).is_none() => return Ok(()),
        Err(_) => {
            to.remove(lock)?;
            return Ok(beside.remove(&copied)?);
        }
    };
    let key = [&wanted, also].concat();
    let is_same = beside.read(&copied).is_ok_and(|there| there == key);
    if !is_same || to.kind(lock) != Some(Kind::File) {
        to.write(lock, &wanted, None)?;
        beside.write(&copied, &key, None)?;
    }
    Ok(())
}

/// Removes what is left of what the original no longer has, except the lock file, which [`sync_lock`] copies.
fn remove(folder: &Folder, is_left: impl Fn(&OsStr) -> bool) -> Result<()> {
    for name in folder.names()? {
        if is_left(&name) && name != LOCK && name != ".git" {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project and its copy, in a folder that also contains what must not change.
    struct Trees {
        dir: tempfile::TempDir,
    }

    impl Trees {
        fn new() -> Self {
            let trees = Self {
                dir: tempfile::tempdir().unwrap(),
            };
            fs::create_dir_all(trees.path("from/src")).unwrap();
            trees
        }

        fn path(&self, path: &str) -> PathBuf {
            self.dir.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.path(path), text).unwrap();
        }

        fn read(&self, path: &str) -> String {
            fs::read_to_string(self.path(path)).unwrap()
        }

        fn sync(&self, leave_out: &[PathBuf], replaced: &Replaced) {
            let to = Folder::open(self.dir.path(), "to").unwrap();
            let written = &mut Written::default();
            sync(&self.path("from"), &to, leave_out, replaced, written).unwrap();
        }
    }

    #[test]
    fn copy_follows_the_original() {
        let trees = Trees::new();
        fs::create_dir(trees.path("from/target")).unwrap();
        trees.write("from/src/a.rs", "a");
        trees.write("from/src/b.rs", "b");
        let replaced = Replaced::from([(trees.path("from/src/b.rs"), b"B".to_vec())]);
        trees.sync(&[trees.path("from/target")], &replaced);
        assert_eq!(trees.read("to/src/b.rs"), "B");
        assert!(!trees.path("to/target").exists());
        let modified = |path| fs::metadata(trees.path(path)).unwrap().modified().unwrap();
        let before = modified("to/src/a.rs");
        fs::remove_file(trees.path("from/src/b.rs")).unwrap();
        trees.write("from/src/c.rs", "c");
        trees.sync(&[trees.path("from/target")], &Replaced::new());
        assert_eq!(modified("to/src/a.rs"), before);
        assert!(!trees.path("to/src/b.rs").exists() && trees.path("to/src/c.rs").exists());
    }

    #[test]
    fn caches_are_left_out() {
        let trees = Trees::new();
        fs::create_dir_all(trees.path("from/fuzz/target")).unwrap();
        trees.write("from/fuzz/target/CACHEDIR.TAG", "Signature");
        trees.write("from/fuzz/lib.rs", "");
        trees.sync(&[], &Replaced::new());
        assert!(trees.path("to/fuzz/lib.rs").exists());
        assert!(!trees.path("to/fuzz/target").exists());
    }

    #[cfg(unix)]
    #[test]
    fn large_files_are_links_unless_they_are_changed() {
        let trees = Trees::new();
        for name in ["from/data", "from/src/tables.rs"] {
            let file = fs::File::create(trees.path(name)).unwrap();
            file.set_len(LARGE + 1).unwrap();
        }
        let changed = Replaced::from([(trees.path("from/src/tables.rs"), b"b".to_vec())]);
        trees.sync(&[], &changed);
        assert_eq!(
            fs::read_link(trees.path("to/data")).unwrap(),
            trees.path("from/data")
        );
        assert_eq!(trees.read("to/src/tables.rs"), "b");
        trees.write("from/data", "small");
        trees.sync(&[], &changed);
        assert!(!trees.path("to/data").is_symlink());
        assert_eq!(trees.read("to/data"), "small");
        assert_eq!(trees.read("from/data"), "small");
    }

    #[test]
    fn a_file_may_become_a_folder_and_a_folder_a_file() {
        let trees = Trees::new();
        trees.write("from/a", "a");
        fs::create_dir(trees.path("from/b")).unwrap();
        trees.write("from/b/inner", "b");
        trees.sync(&[], &Replaced::new());
        fs::remove_file(trees.path("from/a")).unwrap();
        fs::remove_dir_all(trees.path("from/b")).unwrap();
        fs::create_dir(trees.path("from/a")).unwrap();
        trees.write("from/a/inner", "a");
        trees.write("from/b", "b");
        trees.sync(&[], &Replaced::new());
        assert_eq!(
            (trees.read("to/a/inner"), trees.read("to/b")),
            ("a".into(), "b".into())
        );
    }

    #[test]
    fn lock_files_are_the_projects_with_what_cargo_adds() {
        let trees = Trees::new();
        let sync_lock = || {
            let all = Folder::open(trees.dir.path(), "all").unwrap();
            let to = all.folder(OsStr::new("to")).unwrap();
            sync_lock(&trees.path("from"), &to, &all, OsStr::new("to"), b"").unwrap();
        };
        let copy = "all/to/Cargo.lock";
        sync_lock();
        assert!(!trees.path(copy).exists());
        trees.write("from/Cargo.lock", "one");
        sync_lock();
        trees.write(copy, "one and the runtime");
        sync_lock();
        assert_eq!(trees.read(copy), "one and the runtime");
        trees.write("from/Cargo.lock", "two");
        sync_lock();
        assert_eq!(trees.read(copy), "two");
        fs::remove_file(trees.path(copy)).unwrap();
        sync_lock();
        assert_eq!(trees.read(copy), "two");
        fs::remove_file(trees.path("from/Cargo.lock")).unwrap();
        sync_lock();
        assert!(!trees.path(copy).exists());
        trees.write(copy, "of the copy");
        sync_lock();
        assert_eq!(trees.read(copy), "of the copy");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_follow_and_a_file_that_has_them_is_not_touched() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

        let trees = Trees::new();
        trees.write("from/gen.sh", "#!/bin/sh\n");
        let of_copy = || {
            trees.sync(&[], &Replaced::new());
            fs::metadata(trees.path("to/gen.sh")).unwrap()
        };
        let times = |of: &fs::Metadata| (of.mtime_nsec(), of.ctime_nsec());
        for mode in [0o644, 0o755, 0o444] {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(trees.path("from/gen.sh"), permissions).unwrap();
            let first = of_copy();
            assert_eq!(first.mode() & 0o7777, mode);
            assert_eq!(times(&first), times(&of_copy()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_out_of_the_copy() {
        use std::os::unix::fs::symlink;

        let trees = Trees::new();
        let photos = trees.path("photos");
        fs::create_dir(&photos).unwrap();
        trees.write("photos/holiday.jpg", "keep");
        trees.write("photos/lib.rs", "keep");
        let links = ["from/src/folder", "from/src/lib.rs", "from/src/gone"];
        symlink(&photos, trees.path(links[0])).unwrap();
        symlink(photos.join("lib.rs"), trees.path(links[1])).unwrap();
        symlink(&photos, trees.path(links[2])).unwrap();
        trees.sync(&[], &Replaced::new());
        assert_eq!(fs::read_link(trees.path("to/src/folder")).unwrap(), photos);
        for link in links {
            fs::remove_file(trees.path(link)).unwrap();
        }
        // What was a link is now a folder, a file with the same contents, and nothing.
        fs::create_dir(trees.path("from/src/folder")).unwrap();
        trees.write("from/src/folder/lib.rs", "new");
        trees.write("from/src/lib.rs", "keep");
        trees.sync(&[], &Replaced::new());
        assert_eq!(trees.read("to/src/folder/lib.rs"), "new");
        assert!(!trees.path("to/src/lib.rs").is_symlink());
        assert!(!trees.path("to/src/gone").is_symlink());
        let is_kept = || {
            let mut names: Vec<_> = fs::read_dir(&photos)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            names.sort();
            names == ["holiday.jpg", "lib.rs"] && trees.read("photos/lib.rs") == "keep"
        };
        assert!(is_kept());
        // The copy itself, and a folder in it, have been replaced by links.
        fs::remove_dir_all(trees.path("to/src")).unwrap();
        symlink(&photos, trees.path("to/src")).unwrap();
        trees.sync(&[], &Replaced::new());
        assert!(is_kept() && !trees.path("to/src").is_symlink());
        fs::remove_dir_all(trees.path("to")).unwrap();
        symlink(&photos, trees.path("to")).unwrap();
        trees.sync(&[], &Replaced::new());
        assert!(is_kept() && !trees.path("to").is_symlink());
    }
}
