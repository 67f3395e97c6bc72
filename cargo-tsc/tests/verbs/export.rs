//! `cargo tsc export`: the formats of rows by their rules. Those of the call tree are in `readers`.

use serde_json::Value;

use crate::project::{PROGRAM, Project};

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
        project
            .tsc(&format!("export flat --format {format}"))
            .ends(2)
            .complains("record it with `cargo tsc run --tree`");
    }
}

#[test]
fn openmetrics_text_ends_as_it_must() {
    let project = project();
    project
        .tsc("export three --format openmetrics -o tsc.prom")
        .ends(0);
    let text = project.read("tsc.prom");
    assert!(text.ends_with("# EOF\n") && text.contains("work"), "{text}");
    assert!(!project.path("tsc.prom.new").exists());
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
    project
        .tsc("export three --format xml")
        .ends(2)
        .remarks("xml");
}
