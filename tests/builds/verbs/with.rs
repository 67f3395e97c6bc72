//! `cargo tsc run --all --with`: the functions of dependencies, from every kind of source.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::git::commit_all;
use crate::project::{Ended, Project, read_all};

/// A program whose work is in dependencies: `beside` is a folder, `member` and `sibling` are in a git repository, and `upper`, `deep` and
/// `rest` are in a registry.
struct Program {
    project: Project,
    /// Everything else.
    others: tempfile::TempDir,
    /// The repository's name, which no other one has.
    repository: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        for folder in self
            .checkouts("db")
            .into_iter()
            .chain(self.checkouts("checkouts"))
        {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

const MAIN: &str = "fn main() {\n    let name = made::name!();\n    println!(\"{name} {} {} {}\", beside::work(2), member::work(3), upper::work(4));\n}\n";

impl Program {
    fn new() -> Self {
        let others = tempfile::tempdir().unwrap();
        let folder = others.path().canonicalize().unwrap();
        let repository = format!("of{}", folder.file_name().unwrap().display());
        let repository = repository.replace('.', "");
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let package = |name: &str, rest: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"1.2.3\"\nedition = \"2021\"\n{rest}")
        };
        let work = |add: &str| {
            format!(
                "pub fn work(count: u64) -> u64 {{\n    (0..count).map(|x| one(x)).sum::<u64>() + {add}\n}}\n\nfn one(x: u64) -> u64 {{\n    std::hint::black_box(x)\n}}\n"
            )
        };
        write(
            "beside/Cargo.toml",
            &package(
                "beside",
                "build = \"script.rs\"\n[package.metadata.found]\nby = \"script\"\n[build-dependencies]\nscripted = { path = \"../scripted\" }\n[workspace]\n",
            ),
        );
        // It searches its manifest, as that of zerocopy does.
        write(
            "beside/script.rs",
            "fn main() {\n    assert!(std::fs::read_to_string(\"Cargo.toml\").unwrap().contains(\"[package.metadata.found]\\n\"));\n    println!(\"cargo::rustc-env=NUMBER={}\", scripted::number())\n}\n",
        );
        // It would be ambiguous if the runtime came with another crate's `impl PartialEq<_> for u64`.
        let same = "pub fn same(wide: u64, narrow: u32) -> bool {\n    wide == narrow.into()\n}\n";
        let beside = work("env!(\"NUMBER\").len() as u64") + same;
        write("beside/src/lib.rs", &beside);
        write("scripted/Cargo.toml", &package("scripted", ""));
        write(
            "scripted/src/lib.rs",
            "pub fn number() -> u64 { (1..4).product() }\n",
        );
        write(
            "made/Cargo.toml",
            &package("made", "[lib]\nproc-macro = true\n"),
        );
        write(
            "made/src/lib.rs",
            "use proc_macro::TokenStream;\n#[proc_macro]\npub fn name(_: TokenStream) -> TokenStream { format!(\"{:?}\", \"made\").parse().unwrap() }\n",
        );
        // The packages of the repository inherit from its workspace, and refer to each other and to a file above them.
        write(
            &format!("{repository}/Cargo.toml"),
            "[workspace]\nmembers = [\"member\", \"sibling\"]\n[workspace.package]\nversion = \"0.5.0\"\nedition = \"2021\"\n[workspace.dependencies]\nsibling = { path = \"sibling\", version = \"0.5\" }\n",
        );
        write(&format!("{repository}/TEXT"), "text");
        for (name, rest) in [
            (
                "member",
                "[dependencies]\nsibling.workspace = true\n[features]\ndefault = [\"more\"]\nmore = []\n",
            ),
            ("sibling", ""),
        ] {
            write(
                &format!("{repository}/{name}/Cargo.toml"),
                &format!(
                    "[package]\nname = \"{name}\"\nversion.workspace = true\nedition.workspace = true\n{rest}"
                ),
            );
        }
        write(
            &format!("{repository}/member/src/lib.rs"),
            "#![no_std]\n#![deny(warnings)]\n#[cfg(feature = \"more\")]\npub fn work(count: u64) -> u64 {\n    sibling::work(count) + include_str!(\"../../TEXT\").len() as u64\n}\n",
        );
        write(&format!("{repository}/sibling/src/lib.rs"), &work("0"));
        commit_all(&folder.join(&repository));
        for (name, uses) in [
            ("upper", &["deep", "rest"][..]),
            ("deep", &[]),
            ("rest", &[]),
        ] {
            let mut manifest = package(name, "[dependencies]\n");
            for used in uses {
                manifest += &format!(
                    "{used} = {{ version = \"1\", registry-index = \"file:///nowhere\" }}\n"
                );
            }
            write(&format!("vendor/{name}/Cargo.toml"), &manifest);
            write(
                &format!("vendor/{name}/.cargo-checksum.json"),
                "{\"files\":{}}",
            );
            write(&format!("vendor/{name}/src/lib.rs"), &work("0"));
        }
        write(
            "vendor/upper/src/lib.rs",
            "pub fn work(count: u64) -> u64 {\n    deep::work(count) + rest::work(count)\n}\n",
        );
        let config = format!(
            "[registries.mine]\nindex = \"file:///nowhere\"\n[source.mine]\nregistry = \"file:///nowhere\"\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = {:?}\n",
            folder.join("vendor")
        );
        let project = Project::with_manifest(
            &format!(
                "[dependencies]\nbeside = {{ path = {:?} }}\nmade = {{ path = {:?} }}\nmember = {{ git = \"file://{}\" }}\nupper = {{ version = \"1\", registry = \"mine\" }}\n",
                folder.join("beside"),
                folder.join("made"),
                folder.join(&repository).display()
            ),
            MAIN,
        );
        project.write(".cargo/config.toml", &config);
        Self {
            project,
            others,
            repository,
        }
    }

    fn tsc(&self, words: &str) -> Ended {
        self.project.tsc(words)
    }

    /// Cargo's folders for the repository.
    fn checkouts(&self, kind: &str) -> Vec<PathBuf> {
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| env::home_dir().unwrap().join(".cargo"));
        let folders = fs::read_dir(home.join("git").join(kind))
            .into_iter()
            .flatten();
        let folders = folders.filter_map(|folder| Some(folder.ok()?.path()));
        folders
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.to_lowercase()
                    .starts_with(&self.repository.to_lowercase())
            })
            .collect()
    }

    /// Everything that belongs to the user.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        read_all(&self.project.path("."), &mut files);
        for name in ["beside", "scripted", "made", "vendor", &self.repository] {
            read_all(&self.others.path().join(name), &mut files);
        }
        let checkouts = self.checkouts("checkouts");
        assert!(!checkouts.is_empty());
        for folder in checkouts {
            read_all(&folder, &mut files);
        }
        files
    }

    /// The packages and versions in the lock file of a copy.
    fn locked(&self, copy: &str) -> BTreeSet<String> {
        let text = self
            .project
            .read(&format!("target/tsc/.all/{copy}/Cargo.lock"));
        let packages = text.split("[[package]]").skip(1);
        packages
            .map(|package| package.lines().skip(1).take(2).collect())
            .collect()
    }
}

#[test]
fn dependencies_of_every_source_are_measured_and_stay_as_they_are() {
    let program = Program::new();
    // Cargo gets the repository, and completes the lock file.
    program.tsc("run --all").ends(0);
    let mut fetch = Command::new("cargo");
    fetch.current_dir(program.project.path("."));
    assert!(fetch.args(["fetch", "--quiet"]).status().unwrap().success());
    let before = program.files();
    let ended = program
        .tsc("run --all --json --with beside sibl* member --with deep")
        .ends(0);
    assert!(ended.err.contains("made 2 7 12"), "{}", ended.err);
    let expected = [
        ("beside::one", 2),
        ("beside::work", 1),
        ("deep::one", 4),
        ("deep::work", 1),
        ("member::work", 1),
        ("sibling::one", 3),
        ("sibling::work", 1),
        ("app::main", 1),
    ];
    let expected: BTreeMap<String, u64> = expected
        .map(|(name, calls)| (name.to_owned(), calls))
        .into();
    assert_eq!(ended.calls(), expected);
    assert_eq!(program.locked("bare"), program.locked("annotated"));
    assert!(before == program.files(), "a file was changed");
    // Files are named as in the original.
    let json = ended.json();
    let rows = json["report"]["callsites"].as_array().unwrap();
    let deep = rows.iter().find(|row| row["module"] == "deep").unwrap();
    assert!(
        deep["file"]
            .as_str()
            .unwrap()
            .ends_with("vendor/deep/src/lib.rs"),
        "{deep}"
    );
}

#[test]
fn what_cannot_be_annotated_is_said_and_tried_once() {
    let program = Program::new();
    let lib = program.others.path().join("beside/src/lib.rs");
    let text = fs::read_to_string(&lib).unwrap();
    // The attribute's path leads to this crate.
    fs::write(&lib, format!("extern crate self as tsc_runtime;\n{text}")).unwrap();
    let first = program.tsc("run --all --name first --with-deps").ends(0);
    let second = program.tsc("run --all --name second --with-deps").ends(0);
    let tried = |ended: &Ended| ended.err.contains("could not compile `beside`");
    assert!(
        tried(&first) && !tried(&second),
        "{}{}",
        first.err,
        second.err
    );
    for ended in [first, second] {
        ended
            .says("with deep 1.2.3, member 0.5.0, rest 1.2.3, sibling 0.5.0, upper 1.2.3")
            .says("without beside 1.2.3: it does not compile with attributes: error")
            .says("without made 1.2.3: macros, which run in the compiler")
            .says("without scripted 1.2.3: not in the program")
            .says("deep::work");
    }
    // What is mended is tried again.
    fs::write(&lib, text).unwrap();
    let mended = program.tsc("run --all --with beside").ends(0);
    mended.says("with beside 1.2.3").says("beside::work");
    // A new choice of crates, and then a new source, are followed.
    let names = |words: &str| {
        let ended = program.tsc(words).ends(0);
        ended.calls().into_keys().collect::<Vec<_>>()
    };
    let rest = program.others.path().join("vendor/rest/src/lib.rs");
    fs::write(
        &rest,
        fs::read_to_string(&rest).unwrap().replace("one", "another"),
    )
    .unwrap();
    assert_eq!(
        names("run --all --json --with rest"),
        ["app::main", "rest::another", "rest::work"]
    );
    assert_eq!(names("run --all --json"), ["app::main"]);
}

#[test]
fn names_after_an_exclamation_mark_are_left_out() {
    let program = Program::new();
    let crates = |words: &str| {
        let calls = program.tsc(&format!("run --all --json {words}")).calls();
        let names = calls.keys().map(|name| name.split("::").next().unwrap());
        names.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let expected = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    // A crate that is left out is used all the same.
    assert_eq!(
        crates("--with *e* !deep !sib*"),
        expected(&["app", "beside", "member", "rest", "upper"])
    );
    assert_eq!(
        crates("--with !rest !b* !m*"),
        expected(&["app", "deep", "sibling", "upper"])
    );
    let ended = program.tsc("run --all --with !none").ends(2);
    ended.complains("--with none: no dependency has such a name");
}

#[test]
fn what_attributes_of_a_crate_break_is_not_laid_on_its_user() {
    let program = Program::new();
    let lib = program.others.path().join("beside/src/lib.rs");
    let text = fs::read_to_string(&lib).unwrap();
    let text = format!("{text}pub const LENGTH: usize = include_str!(\"lib.rs\").len();\n");
    fs::write(&lib, &text).unwrap();
    let same = format!("const _: () = assert!(beside::LENGTH == {});\n", text.len());
    program
        .project
        .write("src/main.rs", &format!("{same}{MAIN}"));
    let ended = program.tsc("run --all --with beside").ends(0);
    ended
        .says("without beside 1.2.3: it does not compile with attributes: error")
        .says("app::main");
    let ended = program.tsc("run --all").ends(0).says("app::main");
    assert!(!ended.err.contains("left as it is"), "{}", ended.err);
}

#[test]
fn what_macros_use_too_and_there_can_be_only_one_of_is_left_and_said() {
    let program = Program::new();
    let change = |path: &str, from: &str, to: &str| {
        let path = program.others.path().join(path);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace(from, to)).unwrap();
    };
    let lib = "[lib]\n";
    let uses = "[dependencies]\nbeside = { path = \"../beside\" }\nrest = { version = \"1\", registry-index = \"file:///nowhere\" }\n";
    change("made/Cargo.toml", lib, &format!("{uses}{lib}"));
    let edition = "edition = ";
    let links = format!("links = \"rest\"\n{edition}");
    change("vendor/rest/Cargo.toml", edition, &links);
    let script = program.others.path().join("vendor/rest/build.rs");
    fs::write(script, "fn main() {}\n").unwrap();
    let main = MAIN.replace("beside::work(2)", "beside::work(10_000_000)");
    program.project.write("src/main.rs", &main);
    let ended = program
        .tsc("run --all --with-deps")
        .ends(0)
        .says("with deep 1.2.3, member 0.5.0, sibling 0.5.0, upper 1.2.3\n")
        .says("without beside 1.2.3: build scripts, macros or other programs use beside 1.2.3, too")
        .says("without rest 1.2.3: build scripts, macros or other programs use rest 1.2.3, too")
        .says("deep::work");
    // There is no option that opens the row.
    assert!(!ended.out.contains("without probes"), "{}", ended.out);
}

#[test]
fn what_only_tests_and_other_features_use_is_neither_measured_nor_in_the_way() {
    let program = Program::new();
    let vendor = program.others.path().join("vendor");
    let package = |name: &str, more: &str, uses: &str| {
        let nowhere = "{ version = \"1\", registry-index = \"file:///nowhere\" }";
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"1.2.3\"\nedition = \"2021\"\n{more}[dependencies]\n{uses} = {nowhere}\n"
        );
        fs::create_dir_all(vendor.join(name).join("src")).unwrap();
        fs::write(vendor.join(name).join("Cargo.toml"), manifest).unwrap();
        let sums = vendor.join(name).join(".cargo-checksum.json");
        fs::write(sums, "{\"files\":{}}").unwrap();
        fs::write(vendor.join(name).join("src/lib.rs"), "").unwrap();
        fs::write(vendor.join(name).join("build.rs"), "fn main() {}").unwrap();
    };
    // There may be only one of `off`, which a build script would use, too, and of `rest`, which the program uses.
    package("off", "links = \"off\"\n[features]\nextra = []\n", "deep");
    package("tester", "", "rest");
    let rest = vendor.join("rest/Cargo.toml");
    let text = fs::read_to_string(&rest).unwrap();
    let text = text.replace("edition = ", "links = \"rest\"\nedition = ");
    fs::write(&rest, text).unwrap();
    fs::write(vendor.join("rest/build.rs"), "fn main() {}").unwrap();
    let mine = "version = \"1\", registry = \"mine\"";
    let project = &program.project;
    let manifest = project.read("Cargo.toml")
        + &format!(
            "off = {{ {mine}, optional = true }}\n[build-dependencies]\noff = {{ {mine}, optional = true }}\n\
            [dev-dependencies]\ntester = {{ {mine} }}\n\
            [features]\ndefault = [\"weak\"]\nweak = [\"off?/extra\"]\non = [\"dep:off\"]\n"
        );
    project.write("Cargo.toml", &manifest);
    let ended = program.tsc("run --all --with-deps").ends(0).says(
        "with beside 1.2.3, deep 1.2.3, member 0.5.0, rest 1.2.3, sibling 0.5.0, upper 1.2.3\n",
    );
    for name in ["off 1.2.3", "tester"] {
        assert!(!ended.out.contains(name), "{}", ended.out);
    }
    program
        .tsc("run --all --with tester")
        .ends(0)
        .says("without tester 1.2.3: not in the program: only build scripts, macros, tests, ");
    program
        .tsc("run --all --with-deps --features on")
        .ends(0)
        .says("without deep 1.2.3, off 1.2.3: build scripts, macros or other programs use off 1.2.3, too");
}

#[test]
fn build_scripts_keep_the_originals_of_what_the_code_uses() {
    let program = Program::new();
    let folder = program.others.path().join("vendor");
    let add = |path: &Path, text: &str| {
        let all = fs::read_to_string(path).unwrap() + text;
        fs::write(path, all).unwrap();
    };
    let of_script = |path: &Path, names: &[&str], origin: &str| {
        add(path, "[build-dependencies]\n");
        for name in names {
            let entry = format!("{name} = {{ version = \"1\", {origin} }}\n");
            add(path, &entry);
        }
    };
    let nowhere = "registry-index = \"file:///nowhere\"";
    add(&folder.join("deep/src/lib.rs"), "pub struct Kind;\n");
    add(
        &folder.join("rest/Cargo.toml"),
        &format!("deep = {{ version = \"1\", {nowhere} }}\n"),
    );
    add(
        &folder.join("rest/src/lib.rs"),
        "pub fn take(_: deep::Kind) {}\n",
    );
    of_script(&folder.join("upper/Cargo.toml"), &["deep", "rest"], nowhere);
    let script = "fn main() {\n    rest::take(deep::Kind);\n}\n";
    fs::write(folder.join("upper/build.rs"), script).unwrap();
    let project = &program.project;
    of_script(
        &project.path("Cargo.toml"),
        &["upper"],
        "registry = \"mine\"",
    );
    let script = "fn main() {\n    assert_eq!(upper::work(1), 0);\n}\n";
    project.write("build.rs", script);
    let ended = program.tsc("run --all --json --with upper deep").ends(0);
    let calls = ended.calls();
    for (name, expected) in [("upper::work", 1), ("deep::work", 1), ("deep::one", 4)] {
        assert_eq!(calls.get(name), Some(&expected), "{calls:?}");
    }
}

#[test]
fn package_in_a_folder_of_a_package_is_a_dependency() {
    let main = "fn main() { println!(\"{}\", sub::work(basis::same(2))) }\n";
    let project = Project::with_manifest("", main);
    let manifest = project.read("Cargo.toml").replace("[workspace]\n", "");
    let dependencies =
        "[dependencies]\nsub = { path = \"lib/sub\" }\nbasis = { path = \"lib/basis\" }\n";
    project.write("Cargo.toml", &(manifest + dependencies));
    let package = |name: &str, rest: &str| {
        let head = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n");
        let rest = format!("edition = \"2024\"\n{rest}");
        project.write(&format!("lib/{name}/Cargo.toml"), &(head + &rest));
    };
    // The program uses it, too, and it is not copied.
    package("basis", "");
    project.write(
        "lib/basis/src/lib.rs",
        "pub fn same(times: u32) -> u32 { times }\n",
    );
    package("sub", "[dependencies]\nbasis = { path = \"../basis\" }\n");
    let work = "pub fn work(times: u32) -> u32 { if basis::same(times) == 0 { 0 } else { work(times - 1) + times } }\n";
    project.write("lib/sub/src/lib.rs", work);
    let measured = project.tsc("run --all --with sub --json").ends(0).calls();
    assert_eq!(measured.get("sub::work"), Some(&3), "{measured:?}");
}

#[test]
fn crate_without_a_function_that_can_have_a_probe_is_not_said_to_be_measured() {
    let project = Project::with_manifest("", "fn main() { println!(\"{}\", sub::same(2)) }\n");
    let dependency = "[dependencies]\nsub = { path = \"sub\" }\n";
    let manifest = project.read("Cargo.toml").replace("[workspace]\n", "");
    project.write("Cargo.toml", &(manifest + dependency));
    let package = "[package]\nname = \"sub\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    project.write("sub/Cargo.toml", package);
    let same = "pub const fn same(times: u32) -> u32 { times }\n";
    project.write("sub/src/lib.rs", same);
    let ended = project.tsc("run --all --with sub").ends(0);
    assert!(!ended.out.contains("with sub"), "{}", ended.out);
    ended.says("without sub 0.1.0: no function there has a probe");
}

/// A memory allocator with a lock, and what it calls in another file. Who waits for itself ends the program.
const LOCKED: &str = "use std::alloc::{GlobalAlloc, Layout};\nuse std::sync::Mutex;\nmod heap;\npub struct Locked(pub Mutex<()>);\n\
    unsafe impl GlobalAlloc for Locked {\n    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {\n        let Ok(_lock) = self.0.try_lock() else { std::process::abort() };\n\
    heap::take(layout)\n    }\n    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) { heap::give(start, layout) }\n}\n";
const HEAP: &str = "use std::alloc::{GlobalAlloc as _, Layout, System};\npub fn take(layout: Layout) -> *mut u8 { unsafe { System.alloc(layout) } }\n\
    pub fn give(start: *mut u8, layout: Layout) { unsafe { System.dealloc(start, layout) } }\n";

#[test]
fn allocator_of_the_program_gets_no_probes_in_which_it_would_wait_for_itself() {
    let main = "use sub::Locked;\n#[global_allocator]\nstatic ALLOCATOR: Locked = Locked(std::sync::Mutex::new(()));\n\
        fn main() { println!(\"{}\", format!(\"{}\", std::process::id()).len()) }\n";
    let project = Project::with_manifest("", main);
    let dependency = "[dependencies]\nsub = { path = \"sub\" }\n";
    let manifest = project.read("Cargo.toml").replace("[workspace]\n", "");
    project.write("Cargo.toml", &(manifest + dependency));
    let package = "[package]\nname = \"sub\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    project.write("sub/Cargo.toml", package);
    project.write("sub/src/lib.rs", LOCKED);
    project.write("sub/src/heap.rs", HEAP);
    let ended = project.tsc("run --all --with-deps").ends(0);
    ended.says("without sub 0.1.0: the program's memory allocator, in which a probe could wait for itself, or what it uses");
}

#[test]
fn project_in_a_folder_of_its_dependency_is_not_copied_into_itself() {
    let main = "fn main() { println!(\"{}\", upper::work(2)) }\n";
    let whole = Project::with_manifest("", "fn main() {}\n");
    let head = "[package]\nname = \"upper\"\nversion.workspace = true\nedition = \"2024\"\n";
    let workspace = "[workspace]\nexclude = [\"app\"]\n[workspace.package]\nversion = \"0.1.0\"\n";
    whole.write("Cargo.toml", &(head.to_owned() + workspace));
    let work =
        "pub fn work(times: u32) -> u32 { if times == 0 { 0 } else { work(times - 1) + times } }\n";
    whole.write(
        "src/lib.rs",
        &("#![doc = include_str!(\"../README.md\")]\n".to_owned() + work),
    );
    whole.write("README.md", "Works.\n");
    let head = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let dependencies = "[dependencies]\nupper = { path = \"..\" }\n";
    whole.write("app/Cargo.toml", &(head.to_owned() + dependencies));
    whole.write("app/src/main.rs", main);
    let mut command = whole.command("run --all --with upper --json");
    command.current_dir(whole.path("app"));
    command.env("CARGO_TARGET_DIR", whole.path("app/target"));
    let ended = Ended::of(command.output().unwrap(), "run --all --with upper").ends(0);
    let measured = ended.calls();
    assert_eq!(measured.get("upper::work"), Some(&3), "{measured:?}");
}

#[test]
fn names_that_match_no_dependency_are_an_error() {
    let program = Program::new();
    let run = |words: &str| program.tsc(words).ends(2);
    run("run --all --with siblings")
        .complains("--with siblings: no dependency has such a name; the nearest are sibling, ");
    run("run --all --with app").complains("--all measures the workspace's own packages already");
    run("run --with sibling").remarks("--all");
    // What only measuring depends on is no part of the program.
    run("run --all --with libc tsc-*").complains("--with libc: no dependency has such a name");
    Project::new("fn main() {}\n").refuses(
        "run --all --with nosuch",
        "--with nosuch: the program has no dependencies that can be measured",
    );
}

#[test]
fn the_option_that_opens_a_row_is_named() {
    let program = Program::new();
    program.project.write(
        "src/main.rs",
        "fn main() {\n    println!(\"{}\", beside::work(10_000_000));\n}\n",
    );
    program
        .tsc("run --all")
        .ends(0)
        .says("% of the CPU time is in rows whose code names crates without probes")
        .says("--with beside (all: --with-deps)");
    let opened = program.tsc("run --all --with beside").ends(0);
    assert!(!opened.out.contains("without probes"), "{}", opened.out);
}
