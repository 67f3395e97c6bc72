//! `cargo tsc run` and `report`.

use std::io::Write as _;
use std::process::Stdio;

#[cfg(target_os = "linux")]
use crate::project::in_a_terminal;
use crate::project::{Ended, PROGRAM, Project, ROOT};

fn calls(json: &serde_json::Value, name: &str) -> u64 {
    let rows = json["report"]["callsites"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("no {name} in {json}"))["calls"]
        .as_u64()
        .unwrap()
}

#[test]
fn a_program_is_built_run_reported_and_kept() {
    let project = Project::new(PROGRAM);
    let manifest = project.read("Cargo.toml");
    let ended = project.tsc("run --name first -- --release").ends(0);
    let ended = ended
        .says("result ")
        .says("app::inner::work")
        .says("app::outer")
        .remarks("kept in ");
    assert!(
        !ended.out.contains('\u{1b}') && !ended.err.contains('\u{1b}'),
        "no colour or progress in a pipe"
    );
    assert_eq!(project.read("Cargo.toml"), manifest);
    let json = project.tsc("report first --json").ends(0).json();
    assert_eq!((calls(&json, "work"), calls(&json, "outer")), (20, 2));
    assert_eq!(json["report"]["schema"], 4);
}

#[test]
fn runs_are_repeated_and_add_up() {
    let project = Project::new(PROGRAM);
    let json = project.tsc("run -n 5 --name five --json").ends(0);
    assert_eq!(
        json.err.matches("result ").count(),
        1,
        "the program's output is shown once, and aside of the data"
    );
    let json = json.json();
    assert_eq!(
        (json["runs"].as_u64(), calls(&json, "work")),
        (Some(5), 100)
    );
    for run in 1..=5 {
        assert!(project.path(&format!("target/tsc/five/00{run}")).is_dir());
    }
}

#[test]
fn programs_report_every_ten_seconds_unless_the_user_says_how_often() {
    let main = "fn main() {\n    println!(\"every {:?}\", std::env::var(\"TSC_REPORT_EVERY\"));";
    let project = Project::new(&PROGRAM.replace("fn main() {", main));
    project.tsc("run").ends(0).says("every Ok(\"10s\")");
    let mut command = project.command("run");
    let output = command.env("TSC_REPORT_EVERY", "1m").output().unwrap();
    Ended::of(output, "run").ends(0).says("every Ok(\"1m\")");
}

#[test]
fn every_run_reads_the_same_input() {
    let project = Project::new(PROGRAM);
    let mut child = project
        .command("run -n 3 -- run -- read")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"typed in\n")
        .unwrap();
    Ended::of(child.wait_with_output().unwrap(), "run")
        .ends(0)
        .says("typed in\n")
        .says("3 runs");
}

#[test]
fn a_program_that_fails_keeps_its_figures_and_its_status() {
    let project = Project::new(PROGRAM);
    let ended = project.tsc("run --name failed -- run -- fail").ends(7);
    ended
        .says("app::outer")
        .remarks("the program ended with status 7");
    assert_eq!(
        calls(&project.tsc("report failed --json").ends(0).json(), "work"),
        20
    );
    // Such a status may be a result, so the other runs follow.
    let ended = project.tsc("run -n 2 --name both -- run -- fail").ends(7);
    ended.says("2 runs");
}

#[test]
fn one_run_of_several_that_fails_is_not_hidden_by_the_last() {
    let fails_once = r#"let text = std::fs::read_to_string("runs").unwrap_or_default() + ".";
    std::fs::write("runs", &text).unwrap();
    if text.len() == 2 {
        std::process::exit(3);
    }
    match"#;
    let project = Project::new(&PROGRAM.replacen("match", fails_once, 1));
    let ended = project.tsc("run -n 3").ends(3).says("3 runs");
    ended.remarks("the program itself ended with status 3 in 1 of 3 runs, which is passed on");
}

#[cfg(unix)]
#[test]
fn a_program_that_is_killed_keeps_what_it_reported() {
    let project = Project::new(PROGRAM);
    let ended = project.tsc("run -- run -- abort").ends(128 + 6);
    ended
        .says("app::outer")
        .remarks("the program was ended by signal 6");
    project
        .tsc("run -n 2 -- run -- abort")
        .ends(128 + 6)
        .remarks("the program was ended by signal 6 in run 1 of 2");
}

#[cfg(unix)]
#[test]
fn a_program_that_is_killed_before_it_reports_is_not_told_to_measure() {
    let main = "#[tsc_runtime::cycles]\nfn f() {}\nfn main() { f(); std::process::abort() }\n";
    Project::new(main).tsc("run").ends(128 + 6).remarks(
        "signal 6, and reported nothing: a signal that it cannot outlive leaves no report",
    );
}

#[test]
fn a_name_is_checked_before_the_build() {
    let project = Project::new("fn main( {}\n");
    for arguments in ["run --name ..", "run --all --name a/b"] {
        project.refuses(arguments, "use letters");
    }
}

#[test]
fn tests_examples_and_built_programs_are_measured() {
    let project = Project::new(&format!(
        "{PROGRAM}\n#[test]\nfn outer_works() {{ outer(); }}\n"
    ));
    project.write(
        "examples/other.rs",
        "#[tsc_runtime::cycles]\nfn shown() {}\nfn main() { shown() }\n",
    );
    let json = project.tsc("run --json -- test").ends(0).json();
    assert_eq!(calls(&json, "outer"), 1);
    let json = project
        .tsc("run --json -- run --example other")
        .ends(0)
        .json();
    assert_eq!(calls(&json, "shown"), 1);
    project.tsc("run -- run --bin app").ends(0);
    let json = project.tsc("run --json -- target/debug/app").ends(0).json();
    assert_eq!(calls(&json, "work"), 20);
}

#[test]
fn a_library_of_the_workspace_is_enough() {
    let runtime = std::path::Path::new(ROOT).join("tsc-runtime");
    let project = Project::with_manifest(
        "[dependencies]\nparser = { path = \"parser\" }\n",
        "fn main() { parser::parse() }\n",
    );
    let manifest = project
        .read("Cargo.toml")
        .replace("[workspace]", "[workspace]\nmembers = [\"parser\"]");
    project.write("Cargo.toml", &manifest);
    let package = "[package]\nname = \"parser\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies.cycles]\npackage = \"tsc-runtime\"\n";
    project.write(
        "parser/Cargo.toml",
        &format!("{package}path = {runtime:?}\ndefault-features = false\n"),
    );
    project.write(
        "parser/src/lib.rs",
        "#[cycles::cycles(crate = ::cycles)]\npub fn parse() {}\n",
    );
    assert_eq!(calls(&project.tsc("run --json").ends(0).json(), "parse"), 1);
}

#[test]
fn rows_are_sorted_cut_filtered_and_converted() {
    let project = Project::new(PROGRAM);
    // Of two runs, a line has the spread of each row that is shown.
    project.tsc("run -n 2 --name x -- --release").ends(0);
    let by_total = project
        .tsc("report x --sort total --top 1")
        .ends(0)
        .says("app::outer")
        .says("1 more row; ");
    assert!(!by_total.out.contains("app::inner::work"));
    let filtered = project
        .tsc("report x --filter inner --unit ticks --histogram")
        .ends(0)
        .says("times in ticks")
        .says("F marks the first call");
    assert!(!filtered.out.contains("app::outer"));
    project
        .tsc("report x --markdown")
        .ends(0)
        .says("```text\nx: --release; ")
        .says("; all figures are of 2 runs together\n")
        .says(":CLK: app::outer ")
        .says("self times of the runs, ± half their range: ");
    project.tsc("report x --sort speed").ends(2);
    let many = format!("run --name many -- --release -- {}", "input ".repeat(50));
    let many = project.tsc(&many).ends(0);
    let title = many.out.lines().find(|line| line.starts_with("many: "));
    let width = title.map(|title| title.chars().count());
    assert!(width.is_some_and(|width| width < 150), "{}", many.out);
    let all = project.tsc("report x --top 0").ends(0);
    all.says("app::outer").says("app::inner::work");
    for option in ["--unit ticks", "--histogram", "--full", "--slowest"] {
        for form in ["--json", "--html", "--open"] {
            let words = format!("report x {option} {form}");
            project.tsc(&words).ends(2).remarks("cannot be used with");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_progress_in_one_line() {
    let project = Project::new(PROGRAM);
    project.tsc("run -- --release").ends(0);
    for verbose in ["", "-v"] {
        let words = format!("run {verbose} -n 5 -- target/release/app rest");
        let Some(said) = in_a_terminal(&project, &words) else {
            return;
        };
        assert!(said.contains("of 5 ["), "{said:?}");
        let runs = said.matches("tsc: running target/release/app").count();
        assert_eq!(runs, 5 * verbose.len() / 2, "{said:?}");
        // Each line of progress is drawn over the one before, and no other line behind it.
        for drawn in said.split('\r') {
            assert!(drawn.matches("of 5 [").count() <= 1, "{said:?}");
            assert!(
                !drawn.contains("of 5 [") || !drawn.contains("tsc:"),
                "{said:?}"
            );
            assert!(
                !drawn.contains('░'),
                "progress is drawn only in the form of `cargo tsc`: {said:?}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_is_built_again_meanwhile_is_not_measured_in_place_of_the_first() {
    let rebuild = "let own = std::env::current_exe().unwrap();
    let new = own.with_extension(\"new\");
    std::fs::copy(&own, &new).unwrap();
    std::fs::rename(new, own).unwrap();";
    let project =
        Project::new(&PROGRAM.replace("fn main() {", &format!("fn main() {{\n{rebuild}")));
    project
        .tsc("run -n 3 --name one")
        .ends(2)
        .says("app::outer")
        .complains("the program was rebuilt meanwhile");
    let json = project.tsc("report one --json").ends(0).json();
    assert_eq!(json["runs"], 1);
}

#[cfg(unix)]
#[test]
fn a_program_that_becomes_another_one_keeps_its_report() {
    let project = Project::new(
        "use std::os::unix::process::CommandExt as _;\n\n#[tsc_runtime::cycles]\nfn launch() {}\n\n#[tsc_runtime::cycles]\nfn serve() {}\n\n\
         fn main() {\n    if std::env::args().nth(1).is_some() {\n        // Longer than the clock of a file system may be late.\n        std::thread::sleep(std::time::Duration::from_millis(50));\n        return serve();\n    }\n    \
         launch();\n    tsc_runtime::report();\n    let this = std::env::current_exe().unwrap();\n    panic!(\"{}\", std::process::Command::new(this).arg(\"serve\").exec());\n}\n",
    );
    let json = project.tsc("run --json").ends(0).json();
    assert_eq!(["launch", "serve"].map(|name| calls(&json, name)), [1, 1]);
}
