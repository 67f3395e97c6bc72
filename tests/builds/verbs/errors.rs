//! Bad input: one clear line, the right exit status, nothing lost.

use serde_json::Value;

use crate::project::{Ended, PROGRAM, Project, report};

#[test]
fn missing_and_damaged_files_are_named() {
    let project = Project::new(PROGRAM);
    project.refuses("report nothing", "nothing: no such file, folder or session");
    project.refuses("report", "`cargo tsc run` makes one");
    project.write("damaged.json", "{\"schema\": 4, \"process\"");
    project.refuses("report damaged.json", "damaged.json: not a report");
    project.write("empty.json", "");
    project.refuses("diff empty.json damaged.json", "the file is empty");
    project.write("newer.json", "{\"schema\": 99}");
    project.refuses(
        "report newer.json",
        "a later version of tsc-report or cargo-tsc is needed",
    );
    // The keys of an older report are not this version's, and need not be.
    let older = "{\"schema\": 1, \"callsites\": {\"app\": 7}}\n";
    for count in [1, 2] {
        project.write("older.json", &older.repeat(count));
        project.refuses(
            "report older.json",
            "measure again, or read it with the version that wrote it",
        );
    }
    project.write("people.json", ":CLK: read   :  12\n");
    project.refuses("report people.json", "TSC_REPORT=json");
    let wrong = report()
        .trim_end()
        .replacen("\"pid\":", "\"pid\":true,\"was\":", 1);
    for text in [wrong.clone(), format!("{wrong}\n:CLK: read   :  12\n")] {
        project.write("wrong.json", &text);
        let ended = project.tsc("report wrong.json").ends(2);
        let said = ended.err.clone();
        ended.complains("wrong.json: not a report: invalid type: boolean `true`, expected");
        assert!(!said.contains("for people"), "{said}");
    }
    project.write("report.json", report());
    let session = project.tsc("report report.json --json").ends(0).out;
    project.write("session.json", &session);
    project.refuses(
        "report session.json",
        "`cargo tsc export --json` writes a report",
    );
    std::fs::create_dir(project.path("folder")).unwrap();
    project.refuses("report folder", "no report in this folder");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let project = Project::new(PROGRAM);
    project.write("report.json", report());
    let formats =
        ["jsonl", "openmetrics", "bmf"].map(|it| format!("export report.json --format {it}"));
    let others = [
        "merge report.json",
        "report report.json",
        "report report.json --json",
        "diff report.json report.json --lenient",
        "list --json",
        "annotate --json",
        "doctor",
        "completions bash",
        "man",
    ];
    for words in formats.iter().map(String::as_str).chain(others) {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = project.command(words);
        command.stdout(full.unwrap());
        Ended::of(command.output().unwrap(), words)
            .ends(2)
            .complains("error: standard output: No space left on device");
    }
}

#[test]
fn variables_that_leave_out_every_function_are_named() {
    let project = Project::new(PROGRAM);
    let words = "run -- --release";
    for (variable, value) in [("TSC_ONLY", "nothing"), ("TSC_SKIP", ".")] {
        let mut command = project.command(words);
        Ended::of(command.env(variable, value).output().unwrap(), words)
            .ends(2)
            .complains("nothing was measured: TSC_ONLY or TSC_SKIP leaves out ")
            .complains(", among them app::");
    }
}

#[test]
fn projects_that_measure_nothing_are_told_how_to() {
    let project = Project::new("fn main() {}");
    project.refuses(
        "run",
        "nothing was measured: add #[cycles] to functions that the program calls, or use --all",
    );
    let project = Project::with_manifest("", "fn main() {}");
    project.refuses("run", "app does not depend on tsc-runtime");
    project.refuses(
        "run -- rustc --version",
        "nothing was measured: a program must call functions with #[cycles]",
    );
}

#[test]
fn no_project_no_binary_no_build_no_program() {
    let empty = Project::with_manifest("", "");
    std::fs::remove_file(empty.path("Cargo.toml")).unwrap();
    empty.refuses("run", "could not find `Cargo.toml`");
    let project = Project::new(PROGRAM);
    project
        .tsc("run --all --runtime nowhere")
        .ends(2)
        .remarks("error: --runtime: there is no nowhere/Cargo.toml\n");
    let mut by_variable = project.command("run --all");
    by_variable.env("CARGO_TSC_RUNTIME", "/nope");
    Ended::of(by_variable.output().unwrap(), "run --all")
        .ends(2)
        .remarks("error: CARGO_TSC_RUNTIME: there is no /nope/Cargo.toml\n");
    assert!(!project.path("target").exists(), "nothing is built before");
    project.refuses("run -- run --bin other", "the build failed");
    project.refuses("run -- build", "`build` runs nothing");
    project.refuses("run -- ./missing", "./missing cannot be started");
    project.refuses("run -- run -p other", "no package other");
    project.refuses("run --name a/b", "--name a/b");
    project.write("src/bin/second.rs", "fn main() {}");
    project.refuses("run", "say which with --bin; there are app, second");
    project.write("src/main.rs", "fn main() { let x: u8 = \"\"; }");
    project
        .tsc("run -- --bin app")
        .ends(2)
        .complains("the build failed")
        .remarks("src/main.rs:1");
}

#[test]
fn names_that_somebody_has_forged_are_escaped() {
    const FORGED: &str = " |[x](y)\n\rtsc: forged\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{2066}\u{2028}";
    fn forge(value: &mut Value, key: &str) {
        let names = [
            "name", "module", "file", "argv", "cpu", "host", "unit", "warnings",
        ];
        match value {
            Value::String(text) if names.contains(&key) => text.push_str(FORGED),
            Value::Array(values) => values.iter_mut().for_each(|value| forge(value, key)),
            Value::Object(values) => values.iter_mut().for_each(|(key, value)| forge(value, key)),
            _ => {}
        }
    }
    let project = Project::with_manifest("", "fn main() {}");
    let mut honest: Value = serde_json::from_str(report()).unwrap();
    honest["clock"]["warnings"] = ["a warning"].into();
    let mut forged = honest.clone();
    forge(&mut forged, "");
    project.write("honest.json", &honest.to_string());
    project.write("forged.json", &forged.to_string());
    for words in [
        "report FILE --histogram",
        "report FILE --full",
        "report FILE --markdown",
        "diff FILE FILE --lenient",
        "diff FILE FILE --lenient --markdown",
        "diff FILE other.json",
        "gate --baseline FILE FILE --lenient",
    ] {
        let mut other = honest.clone();
        other["machine"]["cpu"] = "another".into();
        project.write("other.json", &other.to_string());
        let run = |file: &str| project.tsc(&words.replace("FILE", file));
        let (honest, forged) = (run("honest.json"), run("forged.json"));
        if words.starts_with("diff") && words.contains("--markdown") {
            let cells = |text: &str| text.matches('|').count();
            assert_eq!(cells(&honest.out), cells(&forged.out), "{words}");
            assert!(!forged.out.contains("[x]"), "{words}: {}", forged.out);
        }
        assert_eq!(honest.status, forged.status, "{words}: {}", forged.err);
        for (honest, forged) in [(honest.out, forged.out), (honest.err, forged.err)] {
            let shown = |character: char| character == '\n' || character.escape_debug().len() == 1;
            let hidden = forged
                .chars()
                .find(|&it| !shown(it) && !"\"'\\".contains(it));
            assert_eq!(hidden, None, "{words}: {forged:?}");
            // The long names make more lines of remarks, but no more of anything else.
            let is_counted = |line: &&str| !words.starts_with("report") || !line.starts_with(' ');
            let lines = |text: &str| text.lines().filter(is_counted).count();
            assert_eq!(lines(&honest), lines(&forged), "{words}: {forged}");
        }
    }
    let mut contradiction = forged;
    contradiction["callsites"][0]["sums"]["samples"] = 0.into();
    project.write("forged.json", &contradiction.to_string());
    let ended = project.tsc("report forged.json").ends(2);
    assert!(!ended.err.contains('\u{1b}'), "{:?}", ended.err);
    assert!(!ended.err.contains("\ntsc:"), "{:?}", ended.err);
}

#[test]
fn a_closed_output_leaves_the_status_as_it_is() {
    let project = Project::new(PROGRAM);
    project.write("report.json", report());
    let mut more: Value = serde_json::from_str(report()).unwrap();
    for row in more["callsites"].as_array_mut().unwrap() {
        row["calls"] = 1000.into();
    }
    project.write("more.json", &more.to_string());
    for (words, status) in [
        ("gate report.json more.json --metric calls --lenient", 1),
        ("run --json -- run -- fail", 7),
        ("report report.json", 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = project.command(words);
        command.stdout(writer);
        Ended::of(command.output().unwrap(), words).ends(status);
    }
}

#[cfg(unix)]
#[test]
fn crates_that_are_not_built_need_not_be_there() {
    use std::os::unix::fs::PermissionsExt;

    // In place of cargo where it cannot list all dependencies.
    let cargo = env!("CARGO");
    let text = format!(
        "#!/bin/sh\ncase $* in build* | -vV | *--no-deps*) exec {cargo} \"$@\" ;; esac\necho 'error: no network' >&2\nexit 101\n"
    );
    let run = |project: &Project| {
        project.write("cargo", &text);
        let script = project.path("cargo");
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let output = project.command("run").env("CARGO", script).output();
        Ended::of(output.unwrap(), "run")
    };
    run(&Project::new(PROGRAM)).ends(0).says("app::outer");
    let without = Project::with_manifest("", "fn main() {}\n");
    run(&without).ends(2).complains("no network");
}
