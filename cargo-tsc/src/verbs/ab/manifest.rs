//! The manifest that the command names, in a checkout.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::build::CargoCommand;

/// The name of the option.
const OPTION: &str = "--manifest-path";

/// The command for a checkout of the repository in `root`. A path in `--manifest-path`, which starts from `here`, would otherwise lead to the
/// working tree from every checkout.
///
/// # Errors
/// If the manifest does not exist, or is outside of the repository.
pub(super) fn in_checkout(
    command: &CargoCommand,
    here: &Path,
    root: &Path,
    checkout: &Path,
) -> Result<CargoCommand> {
    let mut command = command.clone();
    let Some(path) = command.values(OPTION, None).pop() else {
        return Ok(command);
    };
    let manifest = here.join(&path);
    let context = || format!("{OPTION} {}", path.display());
    let (Some(folder), Some(name)) = (manifest.parent(), manifest.file_name()) else {
        bail!("{}: name a Cargo.toml", context());
    };
    // The manifest itself may be a link, which the checkout has, too.
    let folder = folder.canonicalize().with_context(context)?;
    let root = root.canonicalize()?;
    let Ok(inner) = folder.strip_prefix(&root) else {
        bail!(
            "{}: it is not in {}, whose revisions are compared: start `cargo tsc ab` in the repository of this manifest",
            context(),
            root.display()
        );
    };
    command.options = command.without(OPTION);
    command.options.push(OPTION.into());
    command
        .options
        .push(checkout.join(inner).join(name).into_os_string());
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::CargoVerb;
    use std::fs;

    #[test]
    fn the_manifest_is_that_of_the_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let (root, checkout) = (dir.path().join("main"), dir.path().join("checkout"));
        fs::create_dir_all(root.join("a")).unwrap();
        let of = |path: &Path| {
            let command = CargoCommand {
                verb: CargoVerb::Run,
                options: vec![OPTION.into(), path.into(), "--release".into()],
                arguments: Vec::new(),
            };
            in_checkout(&command, &root.join("a"), &root, &checkout)
        };
        let expected = checkout.join("Cargo.toml").into_os_string();
        for path in [&root.join("Cargo.toml"), Path::new("../Cargo.toml")] {
            let options = of(path).unwrap().options;
            assert_eq!(
                options,
                ["--release".into(), OPTION.into(), expected.clone()]
            );
        }
        let inner = of(Path::new("Cargo.toml")).unwrap().options;
        assert_eq!(inner[2], checkout.join("a/Cargo.toml").into_os_string());
        let outside = of(&dir.path().join("Cargo.toml")).unwrap_err();
        assert!(outside.to_string().contains("it is not in"), "{outside}");
        let missing = of(Path::new("../none/Cargo.toml")).unwrap_err();
        assert!(
            missing.to_string().contains("../none/Cargo.toml"),
            "{missing}"
        );
    }
}
