//! `cargo tsc run --all`, on a project that does not depend on tsc-runtime.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::project::in_a_terminal;
use crate::project::{Ended, Project, read_all};

/// A project of two crates and a macro, with many kinds of code that must not disturb `run --all`.
fn stranger(main: &str) -> Project {
    let project = Project::with_manifest(
        "[dependencies]\nwords = { path = \"words\" }\n\n[lints.rust]\nunsafe_code = \"forbid\"\n",
        main,
    );
    let manifest = project
        .read("Cargo.toml")
        .replace("[workspace]", "[workspace]\nmembers = [\"words\"]");
    project.write("Cargo.toml", &manifest);
    project.write("words/Cargo.toml", "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n");
    project.write(
        "words/build.rs",
        "fn main() { work() }\nfn work() { println!(\"cargo::rustc-env=BUILT=yes\") }\n",
    );
    project.write(
        "words/src/lib.rs",
        "#![deny(warnings)]\nmod split;\nmod template;\npub use split::split;\npub const TEMPLATE: &str = include_str!(\"template.txt\");\n\
         pub fn built() -> &'static str { env!(\"BUILT\") }\n#[cfg(test)]\nmod tests { #[test] fn splits() { assert_eq!(super::split(\"a b\").len(), 2); } }\n",
    );
    project.write(
        "words/src/split.rs",
        "pub fn split(text: &str) -> Vec<&str> {\n    text.split(' ').map(|word| trim(word)).collect()\n}\n\ninclude!(\"trim.rs\");\n",
    );
    project.write(
        "words/src/trim.rs",
        "fn trim(word: &str) -> &str {\n    word.trim()\n}\n",
    );
    project.write("words/src/template.rs", "// nothing yet\n");
    project.write("words/src/template.txt", "fn not_rust() { a() }\n");
    project
}

const MAIN: &str = "fn main() {\n    let text = std::env::args().nth(1).unwrap_or_default();\n    for _ in 0..3 {\n        println!(\"{:?} {}\", words::split(&text), words::built());\n    }\n\
    print!(\"{} {}\", words::TEMPLATE, place());\n}\n\nfn place() -> String {\n    format!(\"{}:{}\", file!(), line!())\n}\n";

#[test]
fn file_that_two_programs_name_in_different_ways_is_one() {
    let project = Project::with_manifest("", "mod util;\nfn main() { util::work() }\n");
    project.write(
        "src/util.rs",
        "pub fn work() { for n in 0..20_000_000 { step(n) } }\nfn step(n: u64) { std::hint::black_box(n); }\n",
    );
    let tool = "#[path = \"../util.rs\"]\nmod util;\nfn main() { util::work() }\n";
    project.write("src/bin/tool.rs", tool);
    let ended = project.tsc("run --all --release --bin tool --json").ends(0);
    let measured = ended.calls();
    assert_eq!(measured.get("tool::util::work"), Some(&1), "{measured:?}");
    assert!(!measured.contains_key("tool::util::step"), "{measured:?}");
    let of_both = "every function in its packages, also of other programs there, and closures that do more than call one: ";
    project.tsc("report").ends(0).says(of_both);
}

#[test]
fn every_function_is_measured_and_no_file_is_touched() {
    let project = stranger(MAIN);
    std::fs::remove_file(project.path("Cargo.lock")).unwrap();
    let mut before = BTreeMap::new();
    read_all(&project.path("."), &mut before);
    let ended = project
        .tsc("run --all --name all --json -- run -- one_two")
        .ends(0);
    assert!(
        ended.err.contains("[\"one_two\"] yes\n") && ended.err.contains("fn not_rust() { a() }"),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("src/main.rs:10"),
        "lines hold: {}",
        ended.err
    );
    let measured = ended.calls();
    let expected = [
        ("app::main", 1),
        ("app::place", 1),
        ("words::split::split", 3),
        ("words::split::trim", 3),
    ];
    for (name, calls) in expected {
        assert_eq!(measured.get(name), Some(&calls), "{name} in {measured:?}");
    }
    let mut after = BTreeMap::new();
    read_all(&project.path("."), &mut after);
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    assert!(before == after, "a file was changed");
    let report = project.tsc("report all").ends(0);
    report
        .says("too short for a probe")
        .says("the bare program");
}

#[test]
fn plain_attributes_by_hand_do_not_keep_a_probe_that_costs_too_much() {
    let project = Project::new(
        "use tsc_runtime::cycles;\n#[cycles] fn tiny(x: u64) -> u64 { x ^ 1 }\n#[cycles(name = \"named\")] fn mine() { println!() }\n\
         #[cycles(name = \"named\")] mod of { pub fn tiny(x: u64) -> u64 { x ^ 1 } pub fn mine() { println!() } }\n\
         fn main() { let x = (0..1000).fold(0, |x, _| of::tiny(std::hint::black_box(tiny(x))) ^ 1); mine(); of::mine(); assert_eq!(x, 0) }\n",
    );
    let ended = project.tsc("run --all --json").ends(0);
    let measured = ended.calls();
    assert_eq!(measured.get("app::named"), Some(&1), "{measured:?}");
    assert_eq!(measured.get("app::tiny"), None, "{measured:?}");
    let [mine, tiny] =
        ["mine", "tiny"].map(|name| measured.get(&format!("app::of::named::{name}")));
    assert_eq!((mine, tiny), (Some(&1), None), "{measured:?}");
}

#[test]
fn a_second_run_follows_the_sources() {
    let project = stranger(MAIN);
    project.tsc("run --all").ends(0);
    project.write("words/src/split.rs", "pub fn split(text: &str) -> Vec<&str> {\n    whole(text)\n}\nfn whole(text: &str) -> Vec<&str> {\n    vec![text]\n}\n");
    let measured = project.tsc("run --all -n 2 --json").ends(0).calls();
    assert_eq!(measured.get("words::split::whole"), Some(&6));
    assert_eq!(measured.get("words::split::trim"), None);
}

#[test]
fn errors_point_at_the_users_own_lines() {
    let project = stranger(&MAIN.replace("let text", "let text: u8"));
    let ended = project.refuses("run --all", "the build failed");
    assert!(ended.err.contains("src/main.rs:2:"), "{}", ended.err);
    let of_the_copy = |line: &&str| line.contains(".all") && !line.contains(" Compiling ");
    assert_eq!(ended.err.lines().find(of_the_copy), None);
    let panics = stranger(&MAIN.replace("print!(\"{} {}\"", "panic!(\"{} {}\""));
    let ended = panics.tsc("run --all").ends(101);
    assert!(ended.err.contains("src/main.rs:6:"), "{}", ended.err);
}

#[test]
fn functions_that_do_not_compile_with_an_attribute_are_left_as_they_are() {
    let project = Project::with_manifest(
        "[dependencies]\npicky = { path = \"picky\" }\n",
        "#[picky::picky]\nfn odd() { println!() }\nfn fine() { println!() }\n#[picky::picky] fn other() { println!() }\n\
         fn main() { odd(); fine(); other() }\n",
    );
    project.write(
        "picky/Cargo.toml",
        "[package]\nname = \"picky\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n",
    );
    project.write(
        "picky/src/lib.rs",
        "use proc_macro::TokenStream;\n#[proc_macro_attribute] pub fn picky(_: TokenStream, item: TokenStream) -> TokenStream {\n\
         assert!(!item.to_string().contains(\"cycles\"), \"one attribute is enough\"); item }\n",
    );
    let ended = project.tsc("run --all --json").ends(0);
    let names: Vec<String> = ended.calls().into_keys().collect();
    assert_eq!(names, ["app::fine", "app::main"]);
    let ended = ended.remarks("src/main.rs:1: left as it is, because it does not compile");
    ended.remarks("src/main.rs:4: left as it is");
    // The next run knows.
    let ended = project.tsc("run --all").ends(0);
    assert!(!ended.err.contains("could not compile"), "{}", ended.err);
    ended.remarks("src/main.rs:4: left as it is");
    project
        .tsc("annotate --write")
        .ends(0)
        .says("added to 2 functions in 1 file")
        .remarks("src/main.rs:4: left as it is, because it does not compile");
}

#[cfg(unix)]
#[test]
fn files_that_cannot_be_measured_are_said() {
    let elsewhere = tempfile::tempdir().unwrap();
    for name in ["linked", "outside"] {
        let file = elsewhere.path().join(format!("{name}.rs"));
        std::fs::write(
            file,
            format!("pub fn {name}() {{ println!(\"{name}\") }}\n"),
        )
        .unwrap();
    }
    let main = "mod cli;\nmod part { include!(\"part.rs\"); }\n#[path = \"deep/../other.rs\"]\nmod other;\nmod links { pub mod linked; }\n#[path = \"../../OUTSIDE/outside.rs\"]\nmod outside;\n\
        fn main() { assert_eq!(include_str!(\"../../OUTSIDE/outside.txt\"), \"text\"); cli::names(); part::part(); other::other(); links::linked::linked(); outside::outside() }\n";
    std::fs::write(elsewhere.path().join("outside.txt"), "text").unwrap();
    // Both are in the folder for temporary files.
    let name = elsewhere.path().file_name().unwrap().to_str().unwrap();
    let project = Project::with_manifest("", &main.replace("OUTSIDE", name));
    for name in ["names", "part", "other"] {
        let file = if name == "names" { "cli" } else { name };
        project.write(
            &format!("src/{file}.rs"),
            &format!("pub fn {name}() {{ println!(\"{name}\") }}\n"),
        );
    }
    project.write("src/deep/mod.rs", "");
    project.write(
        "build.rs",
        "#[path = \"src/cli.rs\"]\nmod cli;\ninclude!(\"src/part.rs\");\nfn main() { cli::names(); part() }\n",
    );
    std::os::unix::fs::symlink(elsewhere.path(), project.path("src/links")).unwrap();
    let ended = project.tsc("run --all --json").ends(0);
    let names: Vec<String> = ended.calls().into_keys().collect();
    assert_eq!(names, ["app::main", "app::other::other"]);
    let ended = ended.remarks("outside.rs: not measured");
    for line in [
        "src/cli.rs: left as it is, because a build script",
        "src/part.rs: left as it is, because a build script",
        "src/links/linked.rs: not measured",
    ] {
        assert_eq!(ended.err.matches(line).count(), 1, "{}", ended.err);
    }
}

#[test]
fn a_member_outside_of_the_workspace_is_an_error() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().canonicalize().unwrap();
    let project = Project::with_manifest("", "fn main() {}\n");
    let manifest = project.read("Cargo.toml").replace(
        "[workspace]",
        &format!("[workspace]\nmembers = [{folder:?}]"),
    );
    project.write("Cargo.toml", &manifest);
    let root = project.path("").canonicalize().unwrap();
    std::fs::create_dir(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/lib.rs"), "").unwrap();
    let manifest = format!("[package]\nname = \"beside\"\nworkspace = {root:?}\n");
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    project.refuses(
        "run --all",
        "or take it out of the workspace; as a dependency with a path, `--with beside` measures it",
    );
}

/// The bare program, which is told to measure nothing, may run for much longer than the measured one did.
#[cfg(unix)]
#[test]
fn bare_program_is_not_started_after_a_crash() {
    let project = Project::with_manifest(
        "",
        "fn main() { if std::env::var_os(\"TSC_SKIP\").is_none() { crash() } std::fs::write(\"bare\", \"\").unwrap() }\n\
         fn crash() { std::process::abort() }\n",
    );
    project
        .tsc("run --all")
        .ends(128 + 6)
        .remarks("signal 6, and reported nothing: a signal that it cannot outlive")
        .remarks("its stack may be too small");
    assert!(!project.path("bare").exists());
}

#[test]
fn older_editions_are_measured_too() {
    for edition in ["2015", "2018"] {
        let project = Project::with_manifest(
            "",
            "mod part;\nmod older;\nfn main() { part::call().unwrap(); older::call(&|x| x) }\n",
        );
        let manifest = project.read("Cargo.toml").replace("2024", edition);
        project.write("Cargo.toml", &manifest);
        project.write(
            "src/part.rs",
            "pub fn call() -> Option<()> { if ::std::env::args().count() == 0 { return None } println!(\"{}\", ::std::i32::MAX); Some(()) }\n",
        );
        // What later editions refuse.
        let parameter = match edition {
            "2015" => "u8",
            _ => "_: u8",
        };
        project.write(
            "src/older.rs",
            &format!(
                "pub fn call(f: &Fn(u8) -> u8) {{ f(1).print(2); boxed() }}\n\
                 fn boxed() {{ let f: Box<Fn(u8) -> u8> = Box::new(|x| x); f(1).print(2) }}\n\
                 trait Print {{ fn print(&self, {parameter}); }}\n\
                 impl Print for u8 {{ fn print(&self, _: u8) {{ println!() }} }}\n"
            ),
        );
        let ended = project.tsc("run --all --json").ends(0);
        assert!(!ended.err.contains("left as it is"), "{}", ended.err);
        let measured = ended.calls();
        let counts = [
            "part::call",
            "older::call",
            "older::boxed",
            "older::<u8 as Print>::print",
        ]
        .map(|name| measured.get(&*format!("app::{name}")).copied());
        assert_eq!(counts, [Some(1), None, Some(1), Some(2)], "{edition}");
    }
}

#[test]
fn closures_of_every_kind_compile_and_do_what_they_did() {
    let program = include_str!("closures_of_every_kind.rs");
    for edition in ["2018", "2024"] {
        let project = Project::with_manifest("", program);
        let manifest = project.read("Cargo.toml").replace("2024", edition);
        project.write("Cargo.toml", &manifest);
        let ended = project.tsc("run --all --top 0").ends(0);
        assert!(!ended.err.contains("left as it is"), "{}", ended.err);
        let ended = ended.says("app::returns_nested::{closure#0}::{closure#0}");
        let mut bare = Command::new("cargo");
        bare.args(["run", "-q", "--offline", "--target-dir", "bare"]);
        let bare = bare.current_dir(project.path("")).output().unwrap();
        let bare = String::from_utf8(bare.stdout).unwrap();
        assert!(bare.ends_with("\n7 8\n"), "{bare}");
        assert!(ended.out.starts_with(&bare), "{}\n{bare}", ended.out);
    }
}

/// Runs cargo for another package, with the same profile, and fails if that takes too long.
const SCRIPT_WITH_CARGO: &str = r#"
use std::{env, process::Command, thread, time::Duration};
fn main() {
    let target = format!("{}/inner", env::var("OUT_DIR").unwrap());
    let mut cargo = Command::new(env::var("CARGO").unwrap())
        .args(["build", "--offline", "--manifest-path", "inner/Cargo.toml", "--target-dir", &target])
        .spawn()
        .unwrap();
    for _ in 0..1200 {
        if let Some(status) = cargo.try_wait().unwrap() {
            assert!(status.success());
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    cargo.kill().unwrap();
    panic!("cargo waits for the folder in which this is built");
}
"#;

#[test]
fn build_scripts_may_run_cargo() {
    let project = Project::with_manifest("", "fn call() { println!() }\nfn main() { call() }\n");
    project.write("build.rs", SCRIPT_WITH_CARGO);
    let manifest = "[package]\nname = \"inner\"\nedition = \"2024\"\n[workspace]\n";
    project.write("inner/Cargo.toml", manifest);
    project.write("inner/src/main.rs", "fn main() {}\n");
    let measured = project.tsc("run --all --json").ends(0).calls();
    assert_eq!(measured.get("app::call"), Some(&1));
}

#[test]
fn a_root_of_the_2015_edition_may_declare_the_runtime_itself() {
    let project =
        Project::new("extern crate tsc_runtime;\nfn call() { println!() }\nfn main() { call() }\n");
    let manifest = project.read("Cargo.toml").replace("2024", "2015");
    project.write("Cargo.toml", &manifest);
    let measured = project.tsc("run --all --json").ends(0).calls();
    assert_eq!(measured.get("app::call"), Some(&1));
}

#[test]
fn tests_are_measured_too_and_programs_are_not() {
    let project = stranger(MAIN);
    let ended = project.tsc("run --all --json -- test -p words").ends(0);
    assert_eq!(ended.calls().get("words::split::split"), Some(&1));
    ended.remarks("doc tests are not run");
    let ended = project
        .tsc("run --all --json -- test -p words --lib")
        .ends(0);
    assert!(!ended.err.contains("doc tests"), "{}", ended.err);
    project.refuses("run --all -- ./app", "--all builds what it measures");
    let nothing = Project::with_manifest("", "fn main() {}\n");
    nothing.refuses("run --all", "nothing can be annotated");
}

#[test]
fn what_is_called_too_often_is_left_out() {
    let program = "fn tiny(x: u64) -> u64 {\n    std::hint::black_box(x).rotate_left(3)\n}\n\nfn sum() -> u64 {\n    (0..60_000_000).map(tiny).fold(0, u64::wrapping_add)\n}\n\nfn main() {\n    println!(\"{}\", sum());\n}\n";
    let project = Project::with_manifest("", program);
    let ended = project
        .tsc("run --all --name pruned -- --release")
        .ends(0)
        .remarks("building with every function annotated\n")
        .remarks("building with the probes that the runs before call for\n")
        .says("app::sum");
    let ended = ended
        .says("left out: app::tiny, 60,000,000 calls")
        .says("their time is their callers'");
    assert!(!ended.out.contains("\napp::tiny"), "{}", ended.out);
    project
        .tsc("run --all --name pruned -- --release")
        .ends(0)
        .remarks("building with the probes that the runs before call for\n")
        .remarks("the session that was named pruned is now pruned.1");
    #[cfg(target_os = "linux")]
    if let Some(shown) = in_a_terminal(&project, "run --all -n 3 -- --release") {
        // The first run's output is shown, because its probes are known from before; the bar is drawn after it.
        let run = "measuring without 1 function: run 1 of 3";
        assert!(shown.contains(run), "no {run:?} in {shown:?}");
        assert!(!shown.contains("of 1 ["), "{shown:?}");
    }
}

#[test]
fn what_the_user_leaves_out_has_no_probe() {
    let project = Project::with_manifest(
        "",
        "fn tiny(x: u64) -> u64 {\n    std::hint::black_box(x).rotate_left(3)\n}\n\nfn main() {\n    println!(\"{}\", (0..100).map(tiny).fold(0, u64::wrapping_add));\n}\n",
    );
    let kept = |options: &str| {
        let ended = project.tsc(&format!("run --all {options}")).ends(0).json();
        let names = ["left_out", "left_out_at"].map(|key| ended["report"][key].clone());
        assert_eq!(names, [json!([]), json!([])], "{options}");
        project.tsc("report").ends(0)
    };
    for options in ["--only main --json", "--only main --name again --json"] {
        kept(options).says(", 1 by --only, TSC_ONLY or TSC_SKIP: their time is their callers'");
    }
    let nothing = project.tsc("run --all --only nothing").ends(2);
    nothing.complains("--only nothing matches none of 2 functions");
}

/// Which probe each function of the program has.
fn probes<const N: usize>(json: &Value, names: [&str; N]) -> [String; N] {
    let rows = json["report"]["callsites"].as_array().unwrap();
    names.map(|name| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        row["probe"].as_str().unwrap().to_owned()
    })
}

#[test]
fn long_calls_are_timed_and_the_rest_is_light() {
    let program = "use std::io::Write as _;\n\nfn short(x: u64) -> u64 {\n    std::hint::black_box(x).rotate_left(3)\n}\n\nfn medium(x: u64) -> u64 {\n    (x..x + 300).fold(short(x), |x, y| std::hint::black_box(x ^ y))\n}\n\nfn long() -> u64 {\n    (0..20_000).map(medium).fold(0, u64::wrapping_add)\n}\n\nfn main() {\n    \
        if let Ok(mut file) = std::fs::File::options().append(true).open(\"started\") {\n        file.write_all(b\"x\").unwrap();\n        if file.metadata().unwrap().len() == 3 {\n            std::thread::sleep(std::time::Duration::from_secs(60));\n        }\n    }\n    \
        println!(\"{}\", (0..20).map(|_| long()).fold(0, u64::wrapping_add));\n}\n";
    let project = Project::with_manifest("", program);
    // What is chosen for some of the functions is not for all, and an interrupt is no choice.
    let some = project.tsc("run --all --only main -- --release");
    some.ends(0);
    #[cfg(unix)]
    {
        // The third time is the measured program's second one, after that of the bare program.
        project.write("started", "");
        interrupted(&project, "run --all -- --release", 3).ends(0);
        std::fs::remove_file(project.path("started")).unwrap();
    }
    let ended = project.tsc("run --all --json -- --release").ends(0);
    let names = ["main", "medium", "long"];
    assert_eq!(probes(&ended.json(), names), ["light", "light", "timed"]);
}

#[test]
fn closures_and_async_blocks_have_rows_unless_their_own_function_runs_them() {
    let program = "use std::hint::black_box;\nuse std::task::{Context, Poll, Waker};\nuse std::thread;\n\nfn spawned() -> u64 {\n    let work = (0..3u64).map(|x| {\n        let thread = thread::spawn(move || {\n            let y = x + 1;\n            \
        (0..20_000_000).fold(y, |x, y| black_box(x ^ y))\n        });\n        thread.join().unwrap()\n    });\n    work.sum()\n}\n\n\
        fn passed() -> u64 {\n    apply(&|x| {\n        let y = x + 1;\n        (0..300).fold(y, |x, y| black_box(x ^ y))\n    })\n}\n\n\
        fn apply(f: &dyn Fn(u64) -> u64) -> u64 {\n    (0..800_000).map(f).sum()\n}\n\n\
        fn own() -> u64 {\n    let sum = (0..1_600_000).map(|x| {\n        let y = x + 1;\n        (0..150).fold(y, |x, y| black_box(x ^ y))\n    });\n    sum.sum()\n}\n\n\
        fn deferred() -> u64 {\n    block_on(async {\n        let x = std::future::ready(1).await;\n        (0..10_000_000).fold(x, |x, y| black_box(x ^ y))\n    })\n}\n\n\
        fn block_on(future: impl Future<Output = u64>) -> u64 {\n    let mut future = Box::pin(future);\n    loop {\n        \
        if let Poll::Ready(x) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {\n            return x;\n        }\n    }\n}\n\n\
        fn main() {\n    println!(\"{}\", spawned() ^ passed() ^ own() ^ deferred());\n}\n";
    let project = Project::with_manifest("", program);
    // The second time, the probes are known.
    for _ in 0..2 {
        let ended = project.tsc("run --all --json -- --release").ends(0);
        let json = ended.json();
        let names = [
            "spawned::{closure#0}::{closure#0}",
            "passed::{closure#0}",
            "deferred::{closure#0}",
        ];
        assert_eq!(probes(&json, names), ["timed", "light", "light"]);
        let calls = ended.calls();
        assert_eq!(
            names.map(|name| calls[&format!("app::{name}")]),
            [3, 800_000, 1]
        );
        assert!(!calls.contains_key("app::own::{closure#0}"), "{calls:?}");
    }
}

#[test]
fn all_are_timed_where_calls_are_few_but_not_what_never_returns() {
    let program = "fn work(x: u64) -> u64 {\n    (0..60_000_000).fold(x, |x, y| std::hint::black_box(x ^ y))\n}\n\nfn once() -> u64 {\n    work(1) + work(2)\n}\n\nfn main() {\n    \
        println!(\"{}\", once());\n    ENDS\n}\n";
    let names = ["main", "once", "work"];
    for (ends, expected) in [
        ("", ["timed"; 3]),
        ("std::process::exit(0)", ["light", "timed", "timed"]),
    ] {
        let project = Project::with_manifest("", &program.replace("ENDS", ends));
        // The second time, the probes are known.
        for _ in 0..2 {
            let json = project.tsc("run --all --json -- --release").ends(0).json();
            assert_eq!(probes(&json, names), expected);
            assert_ne!(json["report"]["contexts"].as_array().map(Vec::len), Some(0));
        }
    }
}

#[cfg(unix)]
#[test]
fn what_both_copies_depend_on_is_built_once() {
    let dependency = tempfile::tempdir().unwrap();
    let folder = dependency.path();
    std::fs::create_dir(folder.join("src")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "Cargo.toml",
        "[package]\nname = \"outside\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    write("src/lib.rs", "pub fn three() -> u64 {\n    3\n}\n");
    write(
        "build.rs",
        "use std::io::Write as _;\n\nfn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n    \
         let mut file = std::fs::File::options().create(true).append(true).open(\"built\").unwrap();\n    file.write_all(b\"once\").unwrap();\n}\n",
    );
    let project = Project::with_manifest(
        &format!("[dependencies]\noutside = {{ path = {folder:?} }}\n"),
        "fn work() -> u64 {\n    (0..outside::three()).map(std::hint::black_box).sum()\n}\n\nfn main() {\n    println!(\"{}\", work());\n}\n",
    );
    let built = || std::fs::read_to_string(folder.join("built")).unwrap();
    for run in ["first", "second"] {
        let ended = project.tsc("run --all --json").ends(0);
        assert_eq!(ended.calls().get("app::work"), Some(&1), "{run}");
        assert_eq!(built(), "once", "{run}");
        let executable = |of: &str| {
            std::fs::read(project.path(&format!("target/tsc/.all/{of}-target/debug/app"))).unwrap()
        };
        assert!(executable("bare") != executable("annotated"), "{run}");
    }
    // The file of a dynamic library has the same name in both builds, so such projects have separate build folders.
    let manifest = project.read("Cargo.toml");
    let library = "[lib]\nname = \"part\"\ncrate-type = [\"cdylib\", \"rlib\"]\n\n[dependencies]";
    project.write("Cargo.toml", &manifest.replace("[dependencies]", library));
    project.write("src/lib.rs", "pub fn part() {}\n");
    project.tsc("run --all").ends(0);
    assert_eq!(built(), "once".repeat(3));
}

#[test]
fn a_status_that_the_bare_program_has_too_is_compared() {
    let program = "fn work() -> u64 {\n    (0..1000).map(std::hint::black_box).sum()\n}\n\nfn main() {\n    std::process::exit((work() % 2 + 1) as i32);\n}\n";
    let project = Project::with_manifest("", program);
    project
        .tsc("run --all --name one")
        .ends(1)
        .says("a run took")
        .remarks("the program itself ended with status 1");
    if cfg!(unix) {
        let session = project.read("target/tsc/one/session.json");
        assert!(session.contains("bare_cpu_seconds"), "{session}");
    }
}

#[test]
fn the_compiler_warns_once() {
    let project = Project::with_manifest(
        "",
        "fn unused() {}\n\nfn main() {\n    println!(\"done\");\n}\n",
    );
    let ended = project.tsc("run --all").ends(0);
    let warnings = ended.err.matches("function `unused` is never used").count();
    assert_eq!(warnings, 1, "{}", ended.err);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_program_that_ends_soon_has_no_thread_that_libc_knows() {
    let program = "fn threads() -> usize {\n    std::fs::read_dir(\"/proc/self/task\").unwrap().count()\n}\n\n\
        fn main() {\n    println!(\"{}\", threads());\n}\n";
    let project = Project::with_manifest("", program);
    // Beside its own thread it has the clock of light probes, which all functions have at first, and as long as it is not known how long it runs,
    // the thread that makes reports.
    for threads in ["3", "1"] {
        let ended = project.tsc("run --all").ends(0);
        assert_eq!(ended.out.lines().next(), Some(threads), "{}", ended.err);
    }
}

/// Runs a command, and interrupts it when the project's file `started` has so many letters.
#[cfg(unix)]
fn interrupted(project: &Project, words: &str, letters: usize) -> Ended {
    let started = || std::fs::read(project.path("started")).map_or(0, |letters| letters.len());
    project.interrupted(words, || started() >= letters)
}

#[cfg(unix)]
#[test]
fn a_service_that_is_interrupted_is_reported_and_not_started_again() {
    let program = "use std::io::Write as _;\n\nfn started() {\n    let mut file = std::fs::File::options().create(true).append(true).open(\"started\").unwrap();\n    file.write_all(b\"once\").unwrap();\n}\n\n\
        fn main() {\n    started();\n    loop {\n        std::thread::sleep(std::time::Duration::from_secs(1));\n    }\n}\n";
    let project = Project::with_manifest("", program);
    interrupted(&project, "run --all --name service", 4)
        .ends(128 + 2)
        .says("app::started")
        .says("interrupted, so no bare program ran beside it");
    assert_eq!(project.read("started"), "once");
}

#[cfg(unix)]
#[test]
fn a_service_that_has_ended_soon_once_is_reported_the_next_time_but_one() {
    let program = "use std::io::Write as _;\n\nfn serve() {\n    let Ok(mut file) = std::fs::File::options().append(true).open(\"started\") else { return };\n    file.write_all(b\"once\").unwrap();\n    \
        std::thread::sleep(std::time::Duration::from_secs(60));\n}\n\nfn main() {\n    serve();\n}\n";
    let project = Project::with_manifest("", program);
    project.tsc("run --all").ends(0);
    project.write("started", "");
    // Of a program that ends soon, there are no reports in the meantime, nor at a signal.
    interrupted(&project, "run --all", 4)
        .ends(128 + 2)
        .remarks("reported nothing: it was interrupted before its end");
    interrupted(&project, "run --all", 8)
        .ends(128 + 2)
        .says("app::serve");
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_needs_more_stack_with_probes_is_told_so() {
    let project = Project::new(
        "#[inline(never)]\nfn even(n: u64, sum: u64) -> u64 {\n    if n == 0 { sum } else { odd(n - 1, sum ^ n) }\n}\n\n\
         #[inline(never)]\nfn odd(n: u64, sum: u64) -> u64 {\n    if n == 0 { !sum } else { even(n - 1, sum.rotate_left(3)) }\n}\n\n\
         fn main() {\n    let n = std::env::args().count() as u64 * 1_000_000;\n    let thread = std::thread::Builder::new().stack_size(1 << 20);\n    \
         println!(\"{}\", thread.spawn(move || even(n, 1)).unwrap().join().unwrap());\n}\n",
    );
    project
        .tsc("run --all --release")
        .ends(128 + 6)
        .remarks("a probe keeps the compiler from making the call at a function's end a jump");
}
