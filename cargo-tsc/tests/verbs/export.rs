//! `cargo tsc export`: every format, read by what reads it, or by its own rules.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::Command;

use serde_json::Value;

use crate::project::{PROGRAM, Project};

/// A project with a session `tree` of three runs, to which a call tree was added: `outer` calls `work`.
fn project() -> Project {
    let project = Project::new(PROGRAM);
    project.tsc("run -n 3 --name tree -- --release").ends(0);
    for run in 1..=3 {
        let folder = project.path(&format!("target/tsc/tree/00{run}"));
        let file = std::fs::read_dir(folder)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let mut report: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let rows = report["callsites"].as_array().unwrap();
        let at = |name: &str| rows.iter().position(|row| row["name"] == name).unwrap();
        let context = |callsite: usize, parent: Option<u64>, calls: u64, total: f64, own: f64| serde_json::json!({ "callsite": callsite, "parent": parent, "calls": calls, "clean": calls, "total_ticks": total, "on_cpu_ticks": total, "self_ticks": own });
        let contexts = [
            context(at("outer"), None, 2, 5000.0, 1000.0),
            context(at("work"), Some(0), 20, 4000.0, 4000.0),
        ];
        report["contexts"] = contexts.into_iter().collect();
        std::fs::write(file, report.to_string()).unwrap();
    }
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
fn folded_stacks_name_callers_first() {
    let folded = project().tsc("export tree --format folded").ends(0).out;
    let mut sum = 0;
    let mut stacks = BTreeMap::new();
    for line in folded.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let count: u64 = count.parse().unwrap();
        sum += count;
        stacks.insert(stack, count);
    }
    assert!(sum <= 1_000_010, "{folded}");
    assert!(
        stacks.contains_key("app::outer;app::inner::work"),
        "{folded}"
    );
}

#[test]
fn callgrind_profile_is_read_by_its_own_tool() {
    let project = project();
    project
        .tsc("export tree --format callgrind -o callgrind.out")
        .ends(0);
    let text = project.read("callgrind.out");
    assert!(
        text.contains("fn=app::outer") && text.contains("cfn=app::inner::work\ncalls=60 "),
        "{text}"
    );
    match Command::new("callgrind_annotate")
        .arg(project.path("callgrind.out"))
        .output()
    {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && said.contains("app::inner::work"),
                "{said}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Err(error) => eprintln!("not read by callgrind_annotate: {error}"),
    }
}

#[test]
fn pprof_profile_is_compressed_and_holds_each_name_once() {
    let project = project();
    project
        .tsc("export tree --format pprof -o profile.pb.gz")
        .ends(0);
    let file = std::fs::File::open(project.path("profile.pb.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    for name in ["app::inner::work", "app::outer", "calls", "nanoseconds"] {
        let found = bytes
            .windows(name.len())
            .filter(|window| *window == name.as_bytes())
            .count();
        assert_eq!(found, 1, "{name}");
    }
    match Command::new("go")
        .args(["tool", "pprof", "-top"])
        .arg(project.path("profile.pb.gz"))
        .output()
    {
        Ok(output) => assert!(String::from_utf8_lossy(&output.stdout).contains("app::inner::work")),
        Err(error) => eprintln!("not read by go tool pprof: {error}"),
    }
}

#[test]
fn openmetrics_text_ends_as_it_must() {
    let project = project();
    project
        .tsc("export tree --format openmetrics -o tsc.prom")
        .ends(0);
    let text = project.read("tsc.prom");
    assert!(text.ends_with("# EOF\n") && text.contains("work"), "{text}");
    assert!(!project.path("tsc.prom.new").exists());
}

#[test]
fn json_lines_are_flat_and_a_run_each() {
    let lines = project().tsc("export tree --format jsonl").ends(0).out;
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
        assert_eq!(row["session"], "tree");
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
    let bmf = project.tsc("export tree --format bmf").ends(0).json();
    let latency = &bmf["app::inner::work"]["latency"];
    let bounds = ["lower_value", "value", "upper_value"].map(|key| latency[key].as_f64().unwrap());
    assert!(bounds[0] <= bounds[1] && bounds[1] <= bounds[2], "{bmf}");
    let github = project
        .tsc("export tree --format github-benchmark")
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
        .tsc("export tree --format xml")
        .ends(2)
        .remarks("xml");
}
