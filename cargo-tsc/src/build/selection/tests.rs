use super::*;
use crate::build::What;
use crate::test_files::write;

/// A workspace: `a`, `a/inner` in it, and `b` beside it. Each has a binary of its name, and more lines of its manifest.
fn workspace(more: [&str; 3]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| write(&dir.path().join(path), text);
    let members = ["a", "a/inner", "b"];
    write(
        "Cargo.toml",
        &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"),
    );
    for (folder, more) in members.into_iter().zip(more) {
        let name = folder.rsplit('/').next().unwrap();
        let text = format!("[package]\nname = {name:?}\nedition = \"2024\"\n{more}");
        write(&format!("{folder}/Cargo.toml"), &text);
        write(&format!("{folder}/src/main.rs"), "fn main() {}");
    }
    dir
}

fn binary(folder: &Path, options: &str) -> Result<String> {
    let command = CargoCommand {
        verb: CargoVerb::Run,
        options: options.split_whitespace().map(OsString::from).collect(),
        arguments: Vec::new(),
    };
    let project = Project::find_members(&command, folder)?;
    let selection = project.select(&command)?;
    Ok(selection.target[1].display().to_string())
}

#[test]
fn the_package_is_the_nearest_one() {
    let dir = workspace([""; 3]);
    let root = dir.path().canonicalize().unwrap();
    let (a, inner) = (root.join("a"), root.join("a/inner"));
    assert_eq!(binary(&a, "").unwrap(), "a");
    assert_eq!(binary(&a.join("src"), "").unwrap(), "a");
    assert_eq!(binary(&inner, "").unwrap(), "inner");
    assert_eq!(binary(&inner.join("src"), "").unwrap(), "inner");
    let beside = binary(&a, "--manifest-path ../b/Cargo.toml");
    assert_eq!(beside.unwrap(), "b");
    let around = binary(&inner, "--manifest-path ../Cargo.toml");
    assert_eq!(around.unwrap(), "a");
    let error = binary(&root, "").unwrap_err().to_string();
    assert!(error.contains("there are a, inner, b"), "{error}");
    let error = binary(&a, "--config none").unwrap_err().to_string();
    assert!(error.contains("--config argument `none`"), "{error}");
}

#[cfg(unix)]
#[test]
fn folders_are_those_that_links_and_dots_lead_to() {
    let dir = workspace([""; 3]);
    let root = dir.path().canonicalize().unwrap();
    let link = root.join("b/link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    assert_eq!(binary(&link.join("a"), "").unwrap(), "a");
    for target in ["a/..", "b/link", "b/none/../.."] {
        let target = link.join(target).join("none/here");
        assert_eq!(on_disk(&target), root.join("none/here"));
    }
}

#[test]
fn packages_are_named_in_the_ways_of_cargo() {
    let dir = workspace([""; 3]);
    let root = dir.path().canonicalize().unwrap();
    let of_inner = format!("-p path+file://{}/a/inner", root.display());
    for options in [
        "-p in*",
        "-p inn[e]r",
        "-p inner@0.0.0",
        "-p inner:0.0",
        &of_inner,
    ] {
        assert_eq!(binary(&root, options).unwrap(), "inner");
    }
    let with_name = format!("--package=file://{}/b#b@0.0.0", root.display());
    assert_eq!(binary(&root, &with_name).unwrap(), "b");
    let error = binary(&root, "-p none*").unwrap_err().to_string();
    assert_eq!(error, "no package none* in this workspace");
}

#[test]
fn packages_that_are_excluded_are_not_selected() {
    let dir = workspace([""; 3]);
    let selected = |options: &str| {
        let words = ["test"].into_iter().chain(options.split_whitespace());
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let What::Cargo(command) = What::parse(&words).unwrap() else {
            panic!("{options}")
        };
        let project = Project::find_members(&command, dir.path()).unwrap();
        let packages = project.select(&command).unwrap().packages;
        let names = packages.iter().map(|id| project.package(id).name.as_str());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(selected("--workspace"), "a inner b");
    assert_eq!(selected("--workspace --exclude a --exclude=in*"), "b");
    assert_eq!(selected("--all --exclude none"), "a inner b");
}

#[test]
fn the_only_default_of_several_packages_is_run() {
    let default = |name: &str| format!("default-run = {name:?}\n");
    let dir = workspace(["", &default("inner"), ""]);
    assert_eq!(binary(dir.path(), "").unwrap(), "inner");
    assert_eq!(binary(dir.path(), "-p b").unwrap(), "b");
    let dir = workspace([&default("a"), &default("inner"), ""]);
    let error = binary(dir.path(), "").unwrap_err().to_string();
    assert!(error.contains("say which with --bin"), "{error}");
}
