//! What a newcomer is told when a command does not do what was meant.

use crate::project::{PROGRAM, Project, report};

#[test]
fn an_expression_that_matches_nothing_is_an_error_with_the_nearest_names() {
    let project = Project::new(PROGRAM);
    project.write("report.json", report());
    project.refuses(
        "report report.json --filter outre",
        "--filter outre matches none of 2 functions; the nearest are app::outer, app::inner::work",
    );
    // What has all rows is not taken for the rows that match.
    for words in ["report report.json", "run --name never"] {
        for (whole, shown) in [
            ("--json", "--json"),
            ("--html page.html", "--html [<FILE>]"),
            ("--open", "--open"),
        ] {
            let said =
                format!("error: the argument '--filter <REGEX>' cannot be used with '{shown}'");
            project
                .tsc(&format!("{words} --filter work {whole}"))
                .ends(2)
                .remarks(&said);
        }
    }
    assert!(!project.path("page.html").exists());
    assert!(!project.path("target/tsc/never").exists());
    // What was measured is kept.
    project
        .tsc("run --name a --filter wrok")
        .ends(2)
        .remarks("kept in target/tsc/a")
        .complains("--filter wrok matches none of 2 functions; the nearest are app::inner::work");
    project
        .tsc("report a --filter work")
        .ends(0)
        .says("app::inner::work");
    project.refuses(
        "run --name b --only wrok",
        "--only wrok matches none of 2 functions; the nearest are app::inner::work",
    );
    let list = project.tsc("list --json").ends(0).json();
    let rows = list.as_array().unwrap().iter();
    let names: Vec<_> = rows.map(|row| row["session"].as_str().unwrap()).collect();
    assert_eq!(names, ["a"]);
    assert!(
        !project.path("target/tsc/b").exists(),
        "an empty session is of no use"
    );
}

#[test]
fn tests_without_annotations_are_measured_with_all() {
    let source = "fn main() {}\n#[test]\nfn works() {}\n";
    let bare = Project::with_manifest("", source);
    bare.refuses("run -- test", "--all");
    let project = Project::new(source);
    project.refuses("run -- test", "or use --all");
    let project = Project::new("fn main() {}\n#[test]\nfn fails() { panic!() }\n");
    project
        .tsc("run -- test")
        .ends(101)
        .remarks("the program ended with status 101, and reported nothing: add #[cycles] to functions that the program calls, or use --all");
}

#[test]
fn a_status_is_told_from_this_tools_own() {
    let exit = "fn main() { work(); std::process::exit(std::env::args().nth(1).unwrap().parse().unwrap()) }\n#[tsc_runtime::cycles]\nfn work() {}\n";
    let project = Project::new(exit);
    for status in [1, 2, 3] {
        let said =
            format!("tsc: the program itself ended with status {status}, which is passed on");
        for quiet in ["", "-q "] {
            project
                .tsc(&format!("run {quiet}-- run -- {status}"))
                .ends(status)
                .says("app::work")
                .remarks(&said);
        }
    }
    let own = project.tsc("run -- run --bin nothing").ends(2);
    assert!(!own.err.contains("the program"), "{}", own.err);
}

#[test]
fn thresholds_are_found_in_a_folder_above() {
    let project = Project::new(PROGRAM);
    project.write("report.json", report());
    project.write("inner/deeper/note", "");
    let gate = |folder: &str| {
        let words = "gate --baseline ../../report.json ../../report.json --lenient";
        let words = if folder == "." {
            words.replace("../", "")
        } else {
            words.to_owned()
        };
        let mut command = project.command(&words);
        command.current_dir(project.path(folder));
        crate::project::Ended::of(command.output().unwrap(), &words)
    };
    project.write("tsc.toml", "[gate]\nthreshold = \"3%\"\n");
    let root = gate("inner/deeper").ends(0);
    let file = project.path("tsc.toml").canonicalize().unwrap();
    let said = format!("gate: thresholds from {}", file.display());
    root.remarks(&said);
    assert!(!gate(".").ends(0).err.contains("thresholds from"));
    project.write("tsc.toml", "[gate]\nthreshhold = \"3%\"\n");
    gate("inner/deeper").ends(2).complains("tsc.toml: ");
    // The nearest one counts.
    project.write("inner/tsc.toml", "[gate]\nthreshold = \"much\"\n");
    gate("inner/deeper")
        .ends(2)
        .complains("gate.threshold = \"much\"");
    std::fs::remove_file(project.path("inner/tsc.toml")).unwrap();
    std::fs::create_dir(project.path("inner/tsc.toml")).unwrap();
    gate("inner/deeper").ends(2).complains("tsc.toml");
}
