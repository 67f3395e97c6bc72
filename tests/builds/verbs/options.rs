//! Options of cargo, and what is printed besides results.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::project::{Ended, PROGRAM, Project, ROOT, report};

/// The command that a session was made with, as the session has it.
fn command(project: &Project, session: &str) -> Vec<String> {
    let about = project.json(&format!("target/tsc/{session}/session.json"));
    let words = about["command"].as_array().unwrap().iter();
    words
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn options_of_cargo_are_taken_directly() {
    let project = Project::new(&format!(
        "{PROGRAM}\n#[cfg(feature = \"loud\")]\n#[used]\nstatic LOUD: &str = \"the feature is on\";\n"
    ));
    let manifest = project.read("Cargo.toml")
        + "\n[features]\nloud = []\n\n[profile.fast]\ninherits = \"release\"\n";
    project.write("Cargo.toml", &manifest);
    project.write(
        "examples/other.rs",
        "#[tsc_runtime::cycles]\nfn shown() {}\nfn main() { shown(); println!(\"{:?}\", std::env::args().nth(1)) }\n",
    );
    // What follows `--` are the program's arguments, also if they are named like cargo's commands or options.
    project
        .tsc("run --name a --release -p app --bin app -j 1 -- fail")
        .ends(7);
    assert_eq!(
        command(&project, "a").join(" "),
        "run --release --package app --bin app --jobs 1 -- fail"
    );
    assert!(project.path("target/release/app").exists());
    project
        .tsc("run --example other -- --release")
        .ends(0)
        .says("Some(\"--release\")")
        .says("other::shown");
    project
        .tsc("run --example other -- test")
        .ends(0)
        .says("Some(\"test\")")
        .remarks("`test` is an argument of the program");
    project
        .tsc("run --profile fast --features loud --no-default-features --offline")
        .ends(0);
    let built = fs::read(project.path("target/fast/app")).unwrap();
    let has = |text: &[u8]| built.windows(text.len()).any(|part| part == text);
    assert!(has(b"the feature is on"));
    // From elsewhere, and to elsewhere.
    project.write("elsewhere/note", "");
    let mut elsewhere =
        project.command("run -r --manifest-path ../Cargo.toml --target-dir ../other -F loud");
    elsewhere.current_dir(project.path("elsewhere"));
    Ended::of(elsewhere.output().unwrap(), "run --manifest-path").ends(0);
    assert!(project.path("other/release/app").exists());
    project
        .tsc("run --all --name all --release -- fail")
        .ends(7)
        .says("app::outer");
}

#[test]
fn commands_after_the_dashes_are_cargos_if_no_option_of_cargo_comes_before() {
    let project = Project::new(&format!(
        "{PROGRAM}\n#[test]\nfn outer_works() {{ outer(); }}\n#[test]\nfn other() {{ outer(); }}\n"
    ));
    for (words, command_of) in [
        ("run --name a -q -- --release", "--release"),
        (
            "run --name a -v -- run --release -- x",
            "run --release -- x",
        ),
        ("run --name a --color never -- test outer", "test outer"),
        ("run --name a -- bench --bin app", "bench --bin app"),
    ] {
        let ended = project.tsc(words);
        // There is no benchmark, so that program calls nothing.
        if words.contains("bench") {
            ended.ends(2).complains("nothing was measured");
        } else {
            let ended = ended.ends(0);
            if words.contains("test outer") {
                ended.says("1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out");
            }
            assert_eq!(command(&project, "a").join(" "), command_of);
        }
    }
}

#[test]
fn the_wrong_word_is_blamed() {
    let project = Project::new(PROGRAM);
    for (words, text) in [
        ("rnu", "rnu"),
        ("gate", "SESSION"),
        ("report --unit hours", "hours"),
        ("diff a b --threshold much", "a share is written 2% or 0.02"),
        ("run --only (", "found open group without closing"),
        // What the program would refuse is refused before it is built.
        (r"run --only \p{Lu}", r"\p{Lu}"),
        ("run --relaese", "unexpected argument '--relaese'"),
        ("run --release app", "unexpected argument 'app'"),
        (
            "run --color sometimes",
            "invalid value 'sometimes' for '--color <WHEN>'",
        ),
        ("run -q -v", "'--quiet' cannot be used with '--verbose...'"),
        ("run --bin nothing", "no bin target named `nothing`"),
        ("run --features nothing", "nothing"),
        ("run --profile nothing", "profile `nothing` is not defined"),
        ("run -p nothing", "no package nothing"),
        ("run --manifest-path nothing", "nothing"),
        ("run -- nothing", "`run -- run -- nothing` gives the word"),
        ("completions tcsh", "invalid value 'tcsh'"),
    ] {
        project.tsc(words).ends(2).remarks(text);
    }
    project
        .tsc("list")
        .ends(0)
        .remarks("no session in target/tsc");
    let help = project.tsc("--help").ends(0);
    help.says("Exit status: 0 fine, 1 regression");
}

#[test]
fn cargo_is_heard_also_without_a_terminal() {
    let project = Project::new(PROGRAM);
    let again = || project.write("src/main.rs", PROGRAM);
    project
        .tsc("run --name a")
        .ends(0)
        .remarks("building with measurement on\n")
        .remarks("   Compiling app v0.1.")
        .remarks("kept in target/tsc/a\n");
    again();
    let quiet = project.tsc("run --quiet").ends(0).says("app::outer");
    assert_eq!(quiet.err, "");
    again();
    project
        .tsc("run -v -- run -- x")
        .ends(0)
        .remarks("cargo build --message-format")
        .remarks("Running `")
        .remarks("target/debug/app x\n");
    // The user's own word counts.
    let ended = project.tsc("run -v -- run --quiet").ends(0);
    assert!(!ended.err.contains("Finished"), "{}", ended.err);
}

#[test]
fn colours_are_used_where_the_user_wants_them() {
    let project = Project::new(PROGRAM);
    project.write("report.json", report());
    for (words, variables, coloured) in [
        ("report report.json", &[][..], false),
        ("report report.json --color always", &[], true),
        (
            "report report.json",
            &[("CARGO_TERM_COLOR", "always")],
            true,
        ),
        ("report report.json", &[("CLICOLOR_FORCE", "1")], true),
        (
            "report report.json --color never",
            &[("CLICOLOR_FORCE", "1")],
            false,
        ),
        (
            "report report.json --color auto",
            &[("CARGO_TERM_COLOR", "always")],
            false,
        ),
        (
            "report report.json",
            &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
            false,
        ),
    ] {
        let mut command = project.command(words);
        command.envs(variables.iter().copied());
        let ended = Ended::of(command.output().unwrap(), words).ends(0);
        assert_eq!(
            ended.out.contains('\u{1b}'),
            coloured,
            "{words} {variables:?}: {}",
            ended.out
        );
    }
}

#[test]
fn times_are_local_and_programs_have_names() {
    let project = Project::with_manifest("", "fn main() {}");
    let mut json: serde_json::Value = serde_json::from_str(report()).unwrap();
    json["process"]["started"] = "2026-11-24T23:42:10Z".into();
    json["process"]["argv"] = ["/a/b/app", "x"].map(String::from).to_vec().into();
    project.write("report.json", &json.to_string());
    for (zone, time) in [
        ("JST-9", "2026-11-25 08:42:10"),
        ("UTC0", "2026-11-24 23:42:10"),
    ] {
        let mut command = project.command("report report.json");
        command.env("TZ", zone);
        Ended::of(command.output().unwrap(), zone)
            .ends(0)
            .says(&format!("report.json: app x; {time}\n"));
    }
}

#[test]
fn shells_complete_the_command_line() {
    let project = Project::new(PROGRAM);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = project.tsc(&format!("completions {shell}")).ends(0);
        assert!(script.out.contains("manifest-path"), "{shell}");
    }
    let script = project.tsc("completions bash").out
        + "complete=$(complete -p cargo-tsc); complete=${complete#*-F }\n"
        + "COMP_WORDS=(cargo-tsc run --manif); COMP_CWORD=2\n"
        + "${complete%% *} cargo-tsc --manif run; echo \"${COMPREPLY[@]}\"\n";
    let Ok(output) = Command::new("bash").args(["-c", &script]).output() else {
        return crate::project::skipped("no bash");
    };
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "--manifest-path\n",
        "{output:?}"
    );
}

#[test]
fn there_is_a_man_page_of_each_verb() {
    let project = Project::new(PROGRAM);
    let page = project.tsc("man").ends(0);
    assert!(
        page.out.contains(".TH cargo-tsc 1") && page.out.contains("Exit status"),
        "{}",
        page.out
    );
    project
        .tsc("man pages")
        .ends(0)
        .remarks("wrote the pages to pages\n");
    let run = project.read("pages/cargo-tsc-run.1");
    assert!(
        run.contains("manifest\\-path") && run.contains("NAME"),
        "{run}"
    );
    assert!(project.path("pages/cargo-tsc-gate.1").exists());
}

#[test]
fn pages_are_beside_the_session_and_can_be_opened() {
    let project = Project::new(PROGRAM);
    project
        .tsc("run --name a --tree --html")
        .ends(0)
        .remarks("wrote target/tsc/a/report.html\n");
    let page = project.read("target/tsc/a/report.html");
    assert!(page.starts_with("<!") && page.contains("\"outer\""));
    // The page is no report.
    project.tsc("report a").ends(0).says("app::outer");
    fs::remove_file(project.path("target/tsc/a/report.html")).unwrap();
    let session = "target/tsc/a/session.json";
    let remarked = project
        .read(session)
        .replace("\"remarks\": []", "\"remarks\": [\"left out: f\"]");
    project.write(session, &remarked);
    project
        .tsc("report a --html")
        .ends(0)
        .remarks("tsc: left out: f\n");
    let list = |items: &str| format!("<ul class=\"note\">{items}</ul>");
    let with_remark = page.replace(&list(""), &list("<li>left out: f</li>"));
    assert!(with_remark != page && project.read("target/tsc/a/report.html") == with_remark);
    project.write("report.json", report());
    project
        .tsc("report report.json --html")
        .ends(0)
        .remarks("wrote report.html\n");
    project.tsc("report report.json --html").ends(0);
    project.write("report.html", "<!doctype html>\n<title>mine</title>\n");
    project.refuses(
        "report report.json --html",
        "report.html exists and is no page of a report: name a file, as with --html=report.html",
    );
    assert!(project.read("report.html").contains("mine"));
    project.tsc("report report.json --html=report.html").ends(0);
    assert!(!project.read("report.html").contains("mine"));
    project.refuses("report --html a", "`cargo tsc report a --html`");
    project.refuses(
        "report --html target/tsc/a",
        "`cargo tsc report target/tsc/a --html`",
    );
    project.refuses("report --html .", "cannot write .: it is a directory");
    project.refuses("report a --since a", "add --html");
    project
        .tsc("report a --html --json")
        .ends(2)
        .remarks("--json");
    #[cfg(target_os = "linux")]
    for words in ["report a --open", "run --html page.html --open"] {
        let shown = project.path("shown");
        let browser = project.path("bin/xdg-open");
        project.write(
            "bin/xdg-open",
            &format!(
                "#!/bin/sh\necho \"$1\" > {0}.new; mv {0}.new {0}\n",
                shown.display()
            ),
        );
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = project.command(words);
        command.env("PATH", format!("{}:{path}", project.path("bin").display()));
        Ended::of(command.output().unwrap(), words)
            .ends(0)
            .remarks("wrote ");
        // It is not waited for.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !shown.exists() {
            let is_late = std::time::Instant::now() > deadline;
            assert!(!is_late, "{words}: no browser was started within 60 s");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let page = fs::read_to_string(&shown).unwrap();
        assert!(project.path(page.trim()).exists(), "{words}: {page}");
        fs::remove_file(shown).unwrap();
    }
}

#[test]
fn a_bare_binary_of_a_workspace_measures_its_annotated_library() {
    let runtime = Path::new(ROOT).join("tsc-runtime");
    let project = Project::with_manifest("", "");
    project.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"app\", \"lib\"]\nresolver = \"3\"\n",
    );
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{rest}\n")
    };
    project.write(
        "app/Cargo.toml",
        &package(
            "bare-app",
            "[dependencies]\nannotated-lib = { path = \"../lib\" }",
        ),
    );
    project.write(
        "lib/Cargo.toml",
        &package(
            "annotated-lib",
            &format!("[dependencies]\ntsc-runtime = {{ path = {runtime:?} }}\n\n[features]\nmeasure = [\"tsc-runtime/release-builds\"]"),
        ),
    );
    project.write("app/src/main.rs", "fn main() { annotated_lib::work() }\n");
    project.write(
        "lib/src/lib.rs",
        "#[tsc_runtime::cycles]\npub fn work() {}\n",
    );
    let mut inside = project.command("run -r");
    inside.current_dir(project.path("app"));
    Ended::of(inside.output().unwrap(), "run in the package")
        .ends(0)
        .says("annotated_lib::work");
    for words in [
        "run --release",
        "run -r -p bare-app",
        "run -r --bin bare-app",
        "run -- run -r -p bare-app",
    ] {
        project.tsc(words).ends(0).says("annotated_lib::work");
    }
    // Without `cargo tsc`, a feature of the library turns measurement on.
    let cargo = |words: &str| {
        let mut command = Command::new(env!("CARGO"));
        command
            .current_dir(project.path("."))
            .args(words.split(' '));
        for (name, value) in project.command("").get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let measured = cargo("run --quiet --release -p bare-app --features annotated-lib/measure");
    assert!(measured.contains(":CLK: work"), "{measured}");
    let refused = cargo("run --quiet --release -p bare-app --features tsc-runtime/release-builds");
    assert!(refused.contains("does not"), "{refused}");
}

#[test]
fn tests_have_the_variables_of_cargo() {
    let project = Project::with_manifest("", "fn main() {\n    println!(\"fine\");\n}\n");
    project.write(
        "build.rs",
        "fn main() {\n    println!(\"cargo::rustc-env=MADE=yes\");\n    std::fs::write(std::env::var(\"OUT_DIR\").unwrap() + \"/made\", \"\").unwrap();\n}\n",
    );
    project.write(
        "tests/it.rs",
        "use std::env::var;\nuse std::path::Path;\n\n#[test]\nfn finds() {\n    \
         assert!(std::process::Command::new(var(\"CARGO_BIN_EXE_app\").unwrap()).status().unwrap().success());\n    \
         assert!(Path::new(&var(\"OUT_DIR\").unwrap()).join(\"made\").exists());\n    \
         assert!(Path::new(&var(\"CARGO_MANIFEST_PATH\").unwrap()).ends_with(\"Cargo.toml\"));\n    \
         assert_eq!((&*var(\"MADE\").unwrap(), &*var(\"CARGO_PKG_NAME\").unwrap()), (\"yes\", \"app\"));\n    \
         assert_eq!(var(\"CARGO_PKG_VERSION\").unwrap(), env!(\"CARGO_PKG_VERSION\"));\n}\n",
    );
    project
        .tsc("run --all -- test --test it")
        .ends(0)
        .says("app::main");
}
