//! Wrappers of rustc that the user has told cargo to start.

use std::os::unix::fs::PermissionsExt as _;

use crate::git::commit_all;
use crate::project::{PROGRAM, Project};

/// Tells cargo to start two wrappers, which write their arguments to `log` after their names: `all` for all crates, and `members` for those of
/// the workspace. They do not know this tool, as sccache does not.
fn wrap(project: &Project) {
    let root = project.path(".").canonicalize().unwrap();
    for name in ["all", "members"] {
        let log = root.join("log");
        let script = format!(
            "#!/bin/sh\ncase $1 in *cargo-tsc) exit 3 ;; esac\necho {name} \"$@\" >> {}\nexec \"$@\"\n",
            log.display()
        );
        project.write(name, &script);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(root.join(name), mode).unwrap();
    }
    let settings = "[build]\nrustc-wrapper = \"./all\"\nrustc-workspace-wrapper = \"./members\"\n";
    project.write(".cargo/config.toml", settings);
}

/// Whether a wrapper has compiled this crate with an argument.
fn has_compiled(project: &Project, wrapper: &str, name: &str, argument: &str) -> bool {
    let (wrapper, name) = (format!("{wrapper} "), format!(" --crate-name {name} "));
    let log = project.read("log");
    let mut lines = log.lines().filter(|line| line.starts_with(&wrapper));
    lines.any(|line| line.contains(&name) && line.contains(argument))
}

#[test]
fn copies_are_compiled_by_the_users_wrappers() {
    let beside = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(beside.path().join(path), text).unwrap();
    write(
        "Cargo.toml",
        "[package]\nname = \"beside\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    std::fs::create_dir(beside.path().join("src")).unwrap();
    write(
        "src/lib.rs",
        "pub fn work(n: u64) -> u64 { (0..n).fold(1, |x, y| std::hint::black_box(x ^ y)) }\n",
    );
    let main = "fn main() { println!(\"{}\", beside::work(1_000_000)) }\n";
    let dependency = format!(
        "[dependencies]\nbeside = {{ path = {:?} }}\n",
        beside.path()
    );
    let project = Project::with_manifest(&dependency, main);
    wrap(&project);
    project
        .tsc("run --all --with beside")
        .ends(0)
        .says("beside::work");
    let log = project.read("log");
    // Only copies have this argument.
    let compiled = [
        ("all", "app"),
        ("members", "app"),
        ("all", "beside"),
        ("members", "beside"),
    ]
    .map(|(wrapper, name)| has_compiled(&project, wrapper, name, "--cap-lints=allow"));
    assert_eq!(compiled, [true, true, true, false], "{log}");
}

#[test]
fn revisions_are_compiled_by_the_users_wrappers() {
    let project = Project::new(PROGRAM);
    project.write(".gitignore", "target\nlog\n");
    wrap(&project);
    commit_all(&project.path("."));
    project.tsc("ab HEAD . -n 1 --lenient").ends(0);
    for wrapper in ["all", "members"] {
        assert!(has_compiled(&project, wrapper, "app", ""), "{wrapper}");
    }
    assert!(!has_compiled(&project, "members", "tsc_core", ""));
}
