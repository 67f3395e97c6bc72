//! Updates a copy of a source tree. Files that did not change are not written, so that cargo only rebuilds what changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Files whose contents differ between the copy and the original.
pub type Replaced = std::collections::BTreeMap<PathBuf, Vec<u8>>;

/// Makes `to` a copy of `from`, without the paths in `leave_out` and with the contents in `replaced` (paths as in `from`).
///
/// # Errors
/// If a file cannot be read or written.
pub fn sync(from: &Path, to: &Path, leave_out: &[PathBuf], replaced: &Replaced) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let mut present = BTreeSet::new();
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let source = entry.path();
        if leave_out.contains(&source) {
            continue;
        }
        let copy = to.join(entry.file_name());
        present.insert(copy.clone());
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            sync_link(&source, &copy)?;
        } else if kind.is_dir() {
            sync(&source, &copy, leave_out, replaced)?;
        } else if kind.is_file() {
            sync_file(&source, &copy, replaced.get(&source).map(Vec::as_slice))?;
        }
    }
    remove_others(to, &present)
}

fn sync_file(source: &Path, copy: &Path, replaced: Option<&[u8]>) -> Result<()> {
    let context = || source.display().to_string();
    let read;
    let wanted = match replaced {
        Some(bytes) => bytes,
        None => {
            read = fs::read(source).with_context(context)?;
            &read
        }
    };
    if fs::read(copy).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    if copy.is_dir() {
        fs::remove_dir_all(copy)?;
    }
    // The file is removed first, because a read-only file could not be overwritten.
    let _ = fs::remove_file(copy);
    fs::write(copy, wanted).with_context(|| copy.display().to_string())?;
    fs::set_permissions(
        copy,
        fs::metadata(source).with_context(context)?.permissions(),
    )?;
    Ok(())
}

/// Makes a link in the copy that leads where the original one does.
fn sync_link(source: &Path, copy: &Path) -> Result<()> {
    let target = fs::read_link(source)?;
    let target = source
        .parent()
        .map_or(target.clone(), |folder| folder.join(&target));
    if fs::read_link(copy).is_ok_and(|there| there == target) {
        return Ok(());
    }
    let _ = fs::remove_file(copy);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&target, copy).with_context(|| copy.display().to_string())?;
    #[cfg(not(unix))]
    if target.is_file() {
        fs::copy(&target, copy)?;
    }
    Ok(())
}

/// Removes what the original no longer has. Cargo's lock file stays, because the copy may have its own.
fn remove_others(folder: &Path, present: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if present.contains(&path)
            || path
                .file_name()
                .is_some_and(|name| name == "Cargo.lock" || name == ".git")
        {
            continue;
        }
        let removed = if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.with_context(|| path.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_follows_the_original() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        fs::create_dir_all(from.join("src")).unwrap();
        fs::create_dir_all(from.join("target")).unwrap();
        fs::write(from.join("src/a.rs"), "a").unwrap();
        fs::write(from.join("src/b.rs"), "b").unwrap();
        let leave_out = [from.join("target")];
        let replaced = Replaced::from([(from.join("src/b.rs"), b"B".to_vec())]);
        sync(&from, &to, &leave_out, &replaced).unwrap();
        assert_eq!(fs::read_to_string(to.join("src/b.rs")).unwrap(), "B");
        assert!(!to.join("target").exists());
        let before = fs::metadata(to.join("src/a.rs"))
            .unwrap()
            .modified()
            .unwrap();
        fs::remove_file(from.join("src/b.rs")).unwrap();
        fs::write(from.join("src/c.rs"), "c").unwrap();
        sync(&from, &to, &leave_out, &Replaced::new()).unwrap();
        assert_eq!(
            fs::metadata(to.join("src/a.rs"))
                .unwrap()
                .modified()
                .unwrap(),
            before
        );
        assert!(!to.join("src/b.rs").exists() && to.join("src/c.rs").exists());
    }
}
