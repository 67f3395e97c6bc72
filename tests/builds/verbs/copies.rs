//! What `cargo tsc run --all` copies of a project, and what it remembers of the copies.

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use crate::git::{commit_all, git};
use crate::project::{Ended, Project};

#[test]
fn build_script_that_asks_git_changes_nothing_of_the_users() {
    let main = "fn main() { println!(\"{}\", env!(\"VERSION\")); println!(\"{}\", std::env::args().count()) }\n";
    let project = Project::with_manifest("", main);
    project.write(".gitignore", "target\n");
    let script = "fn main() {
        println!(\"cargo::rerun-if-changed=.git/HEAD\\ncargo::rerun-if-changed=.git/index\");
        let mut git = std::process::Command::new(\"git\");
        let output = git.args([\"describe\", \"--always\", \"--dirty\", \"--tags\"]).output().unwrap();
        println!(\"cargo::rustc-env=VERSION={}\", String::from_utf8(output.stdout).unwrap().trim());
    }\n";
    project.write("build.rs", script);
    commit_all(&project.path(""));
    git(&project.path(""), &["tag", "v7"]);
    // Git looks at files whose times differ from those in its index, and then writes it anew.
    let old = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options()
        .append(true)
        .open(project.path("src/main.rs"))
        .unwrap();
    file.set_modified(old).unwrap();
    let index = fs::read(project.path(".git/index")).unwrap();
    // Git also writes the index of the copy, which the script watches, and writes it again as long
    // as a file has changed in the second in which the index was written.
    project.tsc("run --all").ends(0).says("v7");
    thread::sleep(Duration::from_millis(1_100));
    for _ in 0..2 {
        project.tsc("run --all").ends(0).says("v7");
    }
    assert_eq!(fs::read(project.path(".git/index")).unwrap(), index);
    let again = project.tsc("run --all").ends(0).says("v7");
    assert!(!again.err.contains("Compiling"), "{}", again.err);
}

#[test]
fn a_package_in_the_projects_folder_may_depend_on_one_out_of_it() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("src")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(outside.path().join(name), text).unwrap();
    write(
        "Cargo.toml",
        "[package]\nname = \"shared\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    write("src/lib.rs", "pub fn one() -> u64 {\n    1\n}\n");
    let project = Project::with_manifest(
        "exclude = [\"parts\"]\n\n[dependencies]\nengine = { path = \"parts/engine\" }\n",
        "fn main() {\n    println!(\"{}\", engine::two());\n}\n",
    );
    // Both are in the folder for temporary files.
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let workspace = "[workspace]\nmembers = [\"engine\"]\n\n[workspace.dependencies]\nshared = { path = \"../../NAME\" }\n";
    project.write("parts/Cargo.toml", &workspace.replace("NAME", name));
    let next = "[package]\nname = \"next\"\nedition = \"2024\"\n\n[dependencies]\nshared = { path = \"../../../NAME\" }\n";
    project.write("parts/next/Cargo.toml", &next.replace("NAME", name));
    project.write("parts/next/src/lib.rs", "pub use shared::one;\n");
    project.write(
        "parts/engine/Cargo.toml",
        "[package]\nname = \"engine\"\nedition = \"2024\"\n\n[dependencies]\nnext = { path = \"../next\" }\nshared.workspace = true\n",
    );
    project.write(
        "parts/engine/src/lib.rs",
        "pub fn two() -> u64 {\n    next::one() + shared::one()\n}\n",
    );
    // Each copy has its own, so the second time, nothing is built.
    for built in [true, false] {
        let ended = project.tsc("run --all").ends(0);
        assert_eq!(ended.out.lines().next(), Some("2"));
        assert_eq!(ended.err.contains("Compiling"), built, "{}", ended.err);
    }
}

#[test]
fn an_error_that_no_attribute_causes_is_not_remembered() {
    let project = Project::with_manifest(
        "",
        "fn main() {\n    println!(\"fine\");\n}\n#[cfg(broken)]\ncompile_error!(\"not here\");\n",
    );
    project.write(
        "build.rs",
        "use std::env::var_os;\n\nfn main() {\n    println!(\"cargo::rerun-if-env-changed=FINE\");\n    let here = var_os(\"CARGO_MANIFEST_DIR\").unwrap();\n    \
         if var_os(\"FINE\").is_none() && std::path::Path::new(&here).ends_with(\"annotated\") {\n        println!(\"cargo::rustc-cfg=broken\");\n    }\n}\n",
    );
    project.refuses("run --all", "the build failed");
    let mut command = project.command("run --all");
    command.env("FINE", "yes");
    let ended = Ended::of(command.output().unwrap(), "run --all").ends(0);
    assert!(!ended.err.contains("left as it is"), "{}", ended.err);
    ended.says("app::main");
}

#[test]
fn what_does_not_compile_with_a_feature_is_tried_without_it() {
    let project = Project::with_manifest(
        "[features]\nown = []\n",
        "#[cfg(feature = \"own\")]\nextern crate self as tsc_runtime;\n\nfn main() {\n    println!(\"fine\");\n}\n",
    );
    let ended = project.tsc("run --all --features own").ends(2);
    ended.complains("nothing can be annotated");
    project.tsc("run --all").ends(0).says("app::main");
}

#[test]
fn what_a_build_script_writes_beside_the_sources_is_compiled() {
    let project = Project::with_manifest(
        "",
        "mod made;\n\nfn main() {\n    println!(\"{}\", made::number());\n}\n",
    );
    project.write(
        "build.rs",
        "fn main() {\n    println!(\"cargo::rerun-if-changed=number\");\n    let number = std::fs::read_to_string(\"number\").unwrap();\n    \
         let text = format!(\"pub fn number() -> u64 {{\\n    std::hint::black_box({number})\\n}}\\n\");\n    std::fs::write(\"src/made.rs\", text).unwrap();\n}\n",
    );
    // The second time, the project has what was made before the number changed.
    for number in ["1", "2"] {
        project.write("number", number);
        for _ in 0..2 {
            let ended = project.tsc("run --all").ends(0);
            assert_eq!(ended.out.lines().next(), Some(number), "{}", ended.err);
            assert!(!ended.err.contains("left as it is"), "{}", ended.err);
        }
        let made = "pub fn number() -> u64 {\n    std::hint::black_box(1)\n}\n";
        project.write("src/made.rs", made);
    }
}

#[test]
fn a_file_of_settings_is_that_of_the_users_folder() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("ci.toml"), "env.ANSWER = \"42\"\n").unwrap();
    // Both are in the folder for temporary files.
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    let project = Project::with_manifest(
        "",
        "fn main() {\n    println!(\"{}\", env!(\"ANSWER\"));\n}\n",
    );
    let ended = project.tsc(&format!("run --all --config ../{name}/ci.toml"));
    assert_eq!(ended.ends(0).out.lines().next(), Some("42"));
}

#[test]
fn settings_of_the_project_count_wherever_the_target_folder_is() {
    let outside = tempfile::tempdir().unwrap();
    let project = Project::with_manifest(
        "",
        "fn main() {\n    println!(\"{}\", env!(\"ANSWER\"));\n}\n",
    );
    #[cfg(unix)]
    for folder in ["out", outside.path().to_str().unwrap()] {
        project.share_builds_apart(folder);
    }
    // Both are in the folder for temporary files.
    let name = outside.path().file_name().unwrap().to_str().unwrap();
    project.write(".cargo/config.toml", "env.ANSWER = \"42\"\n");
    for target in [format!("../{name}"), "src/../out".to_owned()] {
        let mut command = project.command("run --all");
        command.env("CARGO_TARGET_DIR", project.path(&target));
        let ended = Ended::of(command.output().unwrap(), "run --all").ends(0);
        assert_eq!(ended.out.lines().next(), Some("42"));
    }
    let copy = project.path("out/tsc/.all/annotated");
    assert!(copy.join("src").exists() && !copy.join("out").exists());
}

/// Cargo itself refuses to add the runtime to such a project.
#[test]
fn a_crate_that_is_too_old_for_the_runtime_is_updated_in_the_copies() {
    let main = "fn main() {\n    println!(\"{}\", work());\n}\n\nfn work() -> bool {\n    unsafe { libc::getpid() > 0 }\n}\n";
    let project = Project::with_manifest("[dependencies]\nlibc = \"0.2\"\n", main);
    let lock = project.read("Cargo.lock");
    let (before, rest) = lock.split_once("name = \"libc\"\n").unwrap();
    let source = rest.lines().nth(1).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let checksum = "89d92a4743f9a61002fae18374ed11e7973f530cb3a3255fb354818118b2203c";
    let old = format!(
        "{before}name = \"libc\"\nversion = \"0.2.150\"\n{source}\nchecksum = \"{checksum}\"\n\n{after}"
    );
    project.write("Cargo.lock", &old);
    for _ in 0..2 {
        let ended = project.tsc("run --all").ends(0).says("app::work");
        let newer = ended
            .out
            .lines()
            .find(|line| line.starts_with("with libc 0.2."));
        assert!(
            newer.is_some_and(|line| line.contains(" for 0.2.150: newer than in Cargo.lock")),
            "{}",
            ended.out
        );
    }
    assert_eq!(project.read("Cargo.lock"), old);
}
