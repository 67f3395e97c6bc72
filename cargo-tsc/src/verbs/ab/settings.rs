//! Cargo's settings, which are the working tree's for both sides.

use std::path::Path;
use std::{fs, io};

use anyhow::Result;
use toml_edit::DocumentMut;

use crate::progress::remark;

/// Cargo also reads these from the folders around a checkout.
const CARGOS: [&str; 2] = ["config.toml", "config"];
/// One toolchain builds both revisions.
const TOOLCHAINS: [&str; 2] = ["rust-toolchain.toml", "rust-toolchain"];
/// Where packages come from, which may be folders of the revision, as those of `cargo vendor` are.
const ORIGINS: [&str; 2] = ["source", "patch"];

/// Says which settings in the folder `inner` of the revision, and in those around it, are not those with which it is built.
pub(super) fn say_what_counts_for_both(revision: &str, root: &Path, inner: &Path, copy: &Path) {
    let cargos = CARGOS.map(|name| Path::new(".cargo").join(name));
    let names = cargos.into_iter().chain(TOOLCHAINS.map(Into::into));
    let names: Vec<_> = names.collect();
    for file in inner
        .ancestors()
        .flat_map(|at| names.iter().map(|name| at.join(name)))
    {
        if fs::read(copy.join(&file)).ok() != fs::read(root.join(&file)).ok() {
            remark(&format!(
                "{revision}: {} is not that of the working tree, which counts for both sides",
                file.display()
            ));
        }
    }
}

/// Makes cargo's settings and the toolchain in the folder `inner` of the checkout `copy`, and in those around it, the ones of the working tree in
/// `root`. Cargo reads the settings of all folders around a checkout, prefers the inner ones, and joins their lists.
pub(super) fn keep(root: &Path, inner: &Path, copy: &Path) -> Result<()> {
    let copy = copy.canonicalize()?;
    for folder in inner.ancestors() {
        let [own, there] = [root, &copy].map(|of| of.join(folder).join(".cargo"));
        let around = copy.join(folder);
        // It may be missing, or a link to a folder of the user's.
        if !around.canonicalize().is_ok_and(|whole| whole == around) {
            continue;
        }
        let is_read_anyway = copy.starts_with(root.join(folder).canonicalize()?);
        let kept = CARGOS.map(|name| match is_read_anyway {
            true => origins(&fs::read_to_string(there.join(name)).ok()?),
            false => fs::read_to_string(own.join(name)).ok(),
        });
        if there.is_symlink() {
            fs::remove_file(&there)?;
        }
        for (name, text) in CARGOS.iter().zip(kept) {
            let file = there.join(name);
            remove(&file)?;
            if let Some(text) = text {
                fs::create_dir_all(&there)?;
                fs::write(file, text)?;
            }
        }
        for name in TOOLCHAINS {
            let file = around.join(name);
            remove(&file)?;
            if let Ok(text) = fs::read(root.join(folder).join(name)) {
                fs::write(file, text)?;
            }
        }
    }
    Ok(())
}

/// Removes a file, or a link to one, if it is there.
fn remove(file: &Path) -> io::Result<()> {
    match file.symlink_metadata() {
        Ok(_) => fs::remove_file(file),
        Err(_) => Ok(()),
    }
}

/// What settings say of where packages come from.
fn origins(text: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    document.retain(|key, _| ORIGINS.contains(&key));
    (!document.is_empty()).then(|| document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::write;

    #[test]
    fn no_setting_counts_twice_and_all_are_the_working_trees() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("main");
        let own = "build.rustflags = [\"-Copt-level=3\"]\n";
        let of_revision =
            "build.rustflags = [\"-Copt-level=2\"]\n[source.own]\ndirectory = \"vendor\"\n";
        // The first is read from the folders around the checkout, in any case.
        let of_each = [
            "main/target/checkout",
            "main/part/target/checkout",
            "elsewhere/checkout",
        ];
        for (folder, [outer, inner]) in of_each.into_iter().zip([
            ["[source.own]\ndirectory = \"vendor\"\n", own],
            ["[source.own]\ndirectory = \"vendor\"\n", ""],
            [own, own],
        ]) {
            let copy = dir.path().join(folder);
            write(&root.join(".cargo/config.toml"), own);
            write(&root.join("part/.cargo/config"), own);
            write(&copy.join(".cargo/config.toml"), of_revision);
            write(&copy.join("part/.cargo/config.toml"), "build.jobs = 2\n");
            write(&copy.join("part/beside/.cargo/config.toml"), own);
            keep(&root, Path::new("part"), &copy).unwrap();
            let read = |file: &str| fs::read_to_string(copy.join(file)).unwrap_or_default();
            assert_eq!(read(".cargo/config.toml"), outer, "{folder}");
            assert_eq!(read("part/.cargo/config"), inner, "{folder}");
            assert_eq!(read("part/.cargo/config.toml"), "", "{folder}");
            assert_eq!(read("part/beside/.cargo/config.toml"), own, "{folder}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let [root, copy, shared] =
            ["main", "main/target/checkout", "shared"].map(|it| dir.path().join(it));
        let text = "build.jobs = 2\n";
        write(&shared.join("config.toml"), text);
        fs::create_dir_all(copy.join("part")).unwrap();
        for folder in ["", "part"] {
            std::os::unix::fs::symlink(&shared, copy.join(folder).join(".cargo")).unwrap();
        }
        fs::create_dir(root.join("part")).unwrap();
        keep(&root, Path::new("part"), &copy).unwrap();
        assert_eq!(
            fs::read_to_string(shared.join("config.toml")).unwrap(),
            text
        );
        assert!(!copy.join(".cargo").exists() && !copy.join("part/.cargo").exists());
    }
}
