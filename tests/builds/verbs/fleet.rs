//! The reports of many processes as one.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::project::{PROGRAM, Project};

const PROCESSES: u64 = 64;

/// The figures that add up exactly: counts, and the buckets of the histogram.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    calls: u64,
    samples: u64,
    sum: i128,
    histogram: BTreeMap<u64, u64>,
}

impl Sums {
    fn add(&mut self, row: &Value) {
        self.calls += row["calls"].as_u64().unwrap();
        self.samples += row["samples"].as_u64().unwrap();
        // A number that is too large for JSON readers is written as a string.
        let sum = &row["sums"]["sum"];
        self.sum += sum.as_str().map_or_else(
            || i128::from(sum.as_i64().unwrap()),
            |text| text.parse().unwrap(),
        );
        for bucket in row["histogram"].as_array().unwrap() {
            let calls = bucket["calls"].as_u64().unwrap();
            *self
                .histogram
                .entry(bucket["from_ticks"].as_u64().unwrap())
                .or_default() += calls;
        }
    }
}

fn sums<'a>(reports: impl IntoIterator<Item = &'a Value>) -> BTreeMap<String, Sums> {
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    for report in reports {
        for row in report["callsites"].as_array().unwrap() {
            let name = row["name"].as_str().unwrap().to_owned();
            sums.entry(name).or_default().add(row);
        }
    }
    sums
}

#[test]
fn dumps_of_many_processes_merge_to_exactly_their_sums() {
    let project = Project::new(PROGRAM);
    project.tsc("run -- --release").ends(0);
    fs::create_dir(project.path("dumps")).unwrap();
    for _ in 0..PROCESSES {
        let status = tests::program(project.path("target/release/app"))
            .env("TSC_REPORT", "json")
            .env("TSC_REPORT_FILE", project.path("dumps/%p-%t.json"))
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    }
    let mut dumps: Vec<Value> = Vec::new();
    for entry in fs::read_dir(project.path("dumps")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        dumps.push(serde_json::from_str(&text).unwrap());
    }
    assert_eq!(dumps.len() as u64, PROCESSES);
    let merged = project.tsc("merge dumps").ends(0).json();
    assert_eq!(merged["processes"], PROCESSES);
    let expected = sums(&dumps);
    assert_eq!(expected["work"].calls, 20 * PROCESSES);
    assert_eq!(sums([&merged]), expected);
}
