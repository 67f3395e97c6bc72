//! `cargo tsc export`: the formats of rows by their rules. Those of the call tree are in `readers`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::project::{PROGRAM, Project, skipped};

/// A project with a session `three` of three runs.
fn project() -> Project {
    let project = Project::new(PROGRAM);
    project.tsc("run -n 3 --name three -- --release").ends(0);
    project
}

#[test]
fn stacks_need_a_tree() {
    let project = Project::new(PROGRAM);
    project.tsc("run --name flat").ends(0);
    for format in ["folded", "pprof", "callgrind"] {
        project.refuses(
            &format!("export flat --format {format}"),
            "record it with `cargo tsc run --tree`",
        );
    }
}

#[test]
fn a_session_is_exported_as_its_own_json_too() {
    let project = project();
    let json = project.tsc("export three --json").ends(0).json();
    assert_eq!(json["schema"], 4);
    assert_eq!(
        json,
        project.tsc("merge three").ends(0).json(),
        "as merge adds up"
    );
    project.tsc("export three").ends(2).remarks("--format");
}

#[test]
fn promtool_reads_what_is_for_the_textfile_collector() {
    let project = project();
    project
        .tsc("export three --format prometheus -o tsc.prom")
        .ends(0);
    let text = std::fs::File::open(project.path("tsc.prom")).unwrap();
    match Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(text)
        .output()
    {
        Ok(output) => assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => skipped(&format!("promtool: {error}")),
    }
}

#[test]
fn duckdb_queries_json_lines() {
    let project = project();
    project
        .tsc("export three --format jsonl -o rows.jsonl")
        .ends(0);
    let Some(python) = duckdb() else {
        return skipped("no Python with duckdb here, and pip cannot install it");
    };
    let query = "import duckdb\nfor row in duckdb.sql(\"SELECT name, count(*), sum(calls), median(self_ticks) > 0 FROM 'rows.jsonl' GROUP BY name ORDER BY name\").fetchall(): print(*row)\n";
    let output = Command::new(python)
        .current_dir(project.path("."))
        .args(["-c", query])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "outer 3 6 True\nwork 3 60 True\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A Python that has the module: the system's, or a virtual environment beside the tests' files, which is created once.
fn duckdb() -> Option<PathBuf> {
    let has_it = |python: &Path| {
        let asked = Command::new(python).args(["-c", "import duckdb"]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    let system = PathBuf::from("python3");
    if has_it(&system) {
        return Some(system);
    }
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("duckdb");
    let python = environment.join("bin/python");
    if !has_it(&python) {
        let run = |command: &mut Command| {
            let output = command.output();
            output.is_ok_and(|output| output.status.success())
        };
        let made = run(Command::new(&system).args(["-m", "venv"]).arg(&environment))
            && run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "duckdb"]));
        if !made {
            return None;
        }
    }
    has_it(&python).then_some(python)
}

#[test]
fn metrics_are_written_in_both_formats() {
    let project = project();
    for (format, has_end) in [("openmetrics", true), ("prometheus", false)] {
        let words = format!("export three --format {format} -o tsc.prom");
        project.tsc(&words).ends(0);
        let text = project.read("tsc.prom");
        assert!(text.contains("work"), "{text}");
        assert_eq!(text.ends_with("# EOF\n"), has_end, "{text}");
        assert!(!project.path("tsc.prom.new").exists());
    }
}

#[test]
fn json_lines_are_flat_and_a_run_each() {
    let lines = project().tsc("export three --format jsonl").ends(0).out;
    let rows: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 6, "two functions in three runs");
    for row in &rows {
        assert!(
            row.as_object()
                .unwrap()
                .values()
                .all(|value| !value.is_array() && !value.is_object()),
            "{row}"
        );
        assert_eq!(row["session"], "three");
    }
    let works: Vec<&Value> = rows.iter().filter(|row| row["name"] == "work").collect();
    assert_eq!(
        works
            .iter()
            .map(|row| row["run"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert!(works.iter().all(|row| row["calls"] == 20));
}

#[test]
fn benchmark_services_get_a_value_and_its_range() {
    let project = project();
    let bmf = project.tsc("export three --format bmf").ends(0).json();
    let latency = &bmf["app::inner::work"]["latency"];
    let bounds = ["lower_value", "value", "upper_value"].map(|key| latency[key].as_f64().unwrap());
    assert!(bounds[0] <= bounds[1] && bounds[1] <= bounds[2], "{bmf}");
    // A run in which the function is not called has no time of a call.
    let file = project.report_of("three/002");
    let mut report = project.json(&file);
    let mut rows = report["callsites"].as_array_mut().unwrap().iter_mut();
    rows.find(|row| row["name"] == "work").unwrap()["name"] = "other".into();
    project.write(&file, &report.to_string());
    let bmf = project.tsc("export three --format bmf").ends(0).json();
    let work = &bmf["app::inner::work"];
    assert_eq!(work["self-ticks"]["lower_value"], 0.0);
    assert!(
        work["latency"]["lower_value"].as_f64().unwrap() > 0.0,
        "{bmf}"
    );
    let github = project
        .tsc("export three --format github-benchmark")
        .ends(0)
        .json();
    let entry = github
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["name"] == "app::inner::work")
        .unwrap();
    assert!(
        entry["value"].is_f64() && entry["unit"] == "ticks",
        "{entry}"
    );
    assert!(entry["range"].is_string(), "{entry}");
    // One run does not show by how much runs differ.
    let file = project.report_of("three/001");
    let one = project
        .tsc(&format!("export {file} --format github-benchmark"))
        .ends(0)
        .json();
    assert!(
        one[0]["value"].is_f64() && one[0]["range"].is_null(),
        "{one}"
    );
    project
        .tsc("export three --format xml")
        .ends(2)
        .remarks("xml");
}
