//! `cargo tsc annotate`.

use crate::project::{Project, ROOT};

#[test]
fn strip_gives_back_the_very_bytes() {
    let main = "\u{feff}mod part;\r\n#[inline]\r\npub fn a() { part::b(\"fn x() {}\") }\r\nfn main() { a() } // ünï";
    let part = "#[::tsc_runtime::cycles()] pub fn by_hand() { b(\"\") }\npub fn b(_: &str) { println!() }\nmod macros { macro_rules! m { () => { fn c() {} } } }\n";
    let project = Project::with_manifest("", main);
    std::fs::remove_file(project.path("Cargo.lock")).unwrap();
    project.write("src/part.rs", part);
    project.write("src/unused.rs", "fn not_of_this_crate() { x() }\n");
    project
        .tsc("annotate")
        .ends(0)
        .says("#[cycles] would be added to 3 functions in 2 files")
        .remarks("no `run --all` has measured the same text: in 2 files")
        .remarks("--write");
    assert_eq!(project.read("src/main.rs"), main);
    project
        .tsc("annotate --write")
        .ends(0)
        .says("added to 3 functions in 2 files")
        .remarks("cargo add tsc-runtime");
    assert!(
        project
            .read("src/main.rs")
            .contains("#[inline]\r\n#[::tsc_runtime::cycles(/* cargo tsc */)] pub fn a()")
    );
    assert_eq!(
        project.read("src/unused.rs"),
        "fn not_of_this_crate() { x() }\n"
    );
    let ended = project.tsc("annotate --strip --json").ends(0);
    assert!(!ended.err.contains("run --all"), "{}", ended.err);
    let json = ended.json();
    assert_eq!(json["attributes"], 3);
    assert_eq!(project.read("src/main.rs"), main);
    assert_eq!(project.read("src/part.rs"), part);
    assert!(!project.path("Cargo.lock").exists());
}

#[test]
fn annotated_project_builds_and_measures() {
    let runtime = std::path::Path::new(ROOT).join("tsc-runtime");
    let project = Project::with_manifest(
        &format!("[dependencies]\ntsc-runtime = {{ path = {runtime:?} }}\n"),
        "fn a() { println!(\"hello\") }\nfn main() { a() }\n",
    );
    project.tsc("annotate --write").ends(0);
    project.tsc("run").ends(0).says("app::a").says("app::main");
}

#[test]
fn what_the_2015_edition_needs_is_said() {
    let undeclared = "fn a() { println!() }\nfn main() { a() }\n";
    let project = Project::new(undeclared);
    let manifest = project.read("Cargo.toml").replace("2024", "2015");
    project.write("Cargo.toml", &manifest);
    let needs = "src/main.rs needs the line `extern crate tsc_runtime;`";
    project.tsc("annotate --write").ends(0).remarks(needs);
    project.write(
        "src/main.rs",
        &format!("extern crate tsc_runtime;\n{undeclared}"),
    );
    let ended = project.tsc("annotate --write").ends(0);
    assert!(!ended.err.contains(needs), "{}", ended.err);
}

#[test]
fn probes_are_those_that_run_all_has_chosen() {
    // A call of one takes less than its probe, and there are so many that this is noticed. Timing those of the other would take too long.
    let main = "fn tiny(x: u64) -> u64 { x.wrapping_mul(3) }\nfn often() { (0..500).for_each(|n| _ = std::hint::black_box(n)) }\n\
         fn main() { (0..50_000_000).fold(1, |x, _| std::hint::black_box(tiny(x))); (0..1_000_000).for_each(|_| often()) }\n";
    let project = Project::with_manifest("", main);
    let ended = project.tsc("run --all --release").ends(0);
    ended.says("left out: app::tiny");
    let ended = project
        .tsc("annotate --write")
        .ends(0)
        .says("added to 2 functions in 1 file, and is light for 2 of them")
        .remarks(
            "without it, because their probes cost too much in the last `run --all`: app::tiny",
        );
    let unmeasured = "no `run --all` has measured the same text: in 1 file";
    assert!(!ended.err.contains(unmeasured), "{}", ended.err);
    // The attributes do not make it another file.
    project.tsc("annotate").ends(0).says("0 functions");
    // Another function, in the same line, and then one of the same name.
    for (name, body) in [("other", "(3)"), ("tiny", "(30)")] {
        let changed = main.replace("tiny", name).replace("(3)", body);
        project.write("src/main.rs", &changed);
        let ended = project.tsc("annotate").ends(0).says("3 functions");
        ended.remarks(unmeasured);
    }
}

#[test]
fn a_file_that_does_not_parse_is_named_and_left() {
    let project = Project::with_manifest("", "fn main( {}");
    project
        .tsc("annotate --write")
        .ends(0)
        .remarks("src/main.rs:1:8: left as it is: ");
    assert_eq!(project.read("src/main.rs"), "fn main( {}");
    project.tsc("annotate --write --strip").ends(2);
}

#[cfg(unix)]
#[test]
fn files_of_other_projects_stay_as_they_are() {
    let other = tempfile::tempdir().unwrap();
    let folder = other.path().canonicalize().unwrap();
    let text = "pub fn work() { println!() }\n";
    for path in ["beside.rs", "shared/mod.rs", "member/src/lib.rs"] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let main = "#[path = \"FOLDER/beside.rs\"]\nmod beside;\nmod shared;\nfn main() { beside::work(); shared::work() }\n";
    let main = main.replace("FOLDER", folder.to_str().unwrap());
    let project = Project::with_manifest("", &main);
    std::os::unix::fs::symlink(folder.join("shared"), project.path("src/shared")).unwrap();
    // A member is the project's own wherever it is.
    let members = format!("[workspace]\nmembers = [{:?}]", folder.join("member"));
    let manifest = project.read("Cargo.toml").replace("[workspace]", &members);
    project.write("Cargo.toml", &manifest);
    let root = project.path("").canonicalize().unwrap();
    let manifest = format!("[package]\nname = \"member\"\nworkspace = {root:?}\n");
    std::fs::write(folder.join("member/Cargo.toml"), manifest).unwrap();
    project
        .tsc("annotate --write")
        .ends(0)
        .says("added to 2 functions in 2 files")
        .remarks("beside.rs: left as it is, because it is outside of the project")
        .remarks("src/shared/mod.rs: left as it is, because it is outside of the project or reached through");
    for path in ["beside.rs", "shared/mod.rs"] {
        assert_eq!(std::fs::read_to_string(folder.join(path)).unwrap(), text);
    }
}
