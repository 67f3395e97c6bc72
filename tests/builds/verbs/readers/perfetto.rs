//! Timelines of slow calls: by the definition of TrackEvents, <https://perfetto.dev/docs/reference/trace-packet-proto>, and by the Python
//! package `perfetto`, which has Perfetto's own definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::protobuf::{fields, number};
use crate::project::{Project, ROOT, skipped};

/// Two functions, of which one is called by the other 200 000 times and is slow eight times. Four times it calls a third, which sleeps.
const PROGRAM: &str = include_str!("../../../programs/slow/main.rs");
/// The values that it records of its slow calls.
const PLANTED: [u64; 8] = [
    10_007, 30_011, 60_013, 80_021, 110_017, 130_027, 160_019, 190_027,
];

/// Prints what [`read`] returns, a slice in each line.
const READ_IN_PYTHON: &str = r#"
import sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
trace = Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
threads, open_slices = {}, {}
for packet in trace.packet:
    track = packet.track_descriptor
    if track.HasField("thread"):
        threads[track.uuid] = (track.thread.pid, track.thread.tid, track.thread.thread_name)
        open_slices[track.uuid] = []
for packet in trace.packet:
    if not packet.HasField("track_event"):
        continue
    event = packet.track_event
    stack = open_slices[event.track_uuid]
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        annotations = {one.name: one for one in event.debug_annotations}
        value = annotations["value"].uint_value if "value" in annotations else ""
        path = "<".join(one.string_value for one in annotations["path"].array_values)
        stack.append((event.name, packet.timestamp, value, path))
    else:
        assert event.type == TrackEvent.TYPE_SLICE_END
        name, begin, value, path = stack.pop()
        pid, tid, thread = threads[event.track_uuid]
        print(name, begin, packet.timestamp, len(stack), pid, tid, thread, value, path, sep="|")
assert not any(open_slices.values())
"#;

/// The slices of the threads' tracks in the order of their ends: name, begin, end, depth, process, thread, its name, value and path.
fn read(trace: &[u8]) -> Vec<String> {
    let text = |message: &[u8], field: u64| {
        let all = fields(message);
        let found = all.iter().find(|(number, _)| *number == field);
        found.map_or(String::new(), |(_, value)| {
            String::from_utf8(value.bytes().to_vec()).unwrap()
        })
    };
    let of = |message: &[u8], field: u64| -> Vec<Vec<u8>> {
        let all = fields(message).into_iter();
        let found = all.filter(|(number, _)| *number == field);
        found.map(|(_, value)| value.bytes().to_vec()).collect()
    };
    let mut threads = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<(String, u64, String, String)>> = BTreeMap::new();
    let mut slices = Vec::new();
    for packet in of(trace, 1) {
        for track in of(&packet, 60) {
            for thread in of(&track, 4) {
                let place = format!(
                    "{}|{}|{}",
                    number(&thread, 1),
                    number(&thread, 2),
                    text(&thread, 5)
                );
                threads.insert(number(&track, 1), place);
            }
        }
        for event in of(&packet, 11) {
            let (time, track) = (number(&packet, 8), number(&event, 11));
            let stack = open.entry(track).or_default();
            if number(&event, 9) == 1 {
                let annotations = of(&event, 4);
                let named = |name: &str| annotations.iter().find(|one| text(one, 10) == name);
                let value = named("value").map_or(String::new(), |one| number(one, 3).to_string());
                let path = of(named("path").expect("each call has a path"), 12);
                let path: Vec<String> = path.iter().map(|one| text(one, 6)).collect();
                stack.push((text(&event, 23), time, value, path.join("<")));
            } else {
                let (name, begin, value, path) = stack.pop().expect("it has begun");
                assert!(begin <= time && stack.iter().all(|outer| outer.1 <= begin));
                let depth = stack.len();
                slices.push(format!(
                    "{name}|{begin}|{time}|{depth}|{}|{value}|{path}",
                    threads[&track]
                ));
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "a call does not end");
    slices
}

/// The dump of a run in which no other call was slower than the planted ones: a machine may take its CPU away.
fn record(project: &Project) -> Value {
    for run in 0..5 {
        let mut command = project.command(&format!("run --name slow{run}"));
        let output = command.env("TSC_SLOWEST", "8").output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        project
            .tsc(&format!("merge slow{run} -o slow.json"))
            .ends(0);
        let dump = project.json("slow.json");
        let rows = dump["callsites"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == "request").unwrap();
        let calls = row["slowest"].as_array().unwrap();
        let values: BTreeSet<u64> = calls
            .iter()
            .filter_map(|call| call["value"].as_u64())
            .collect();
        if values == PLANTED.into() {
            return dump;
        }
    }
    panic!("other calls were slower in each of five runs");
}

#[test]
#[cfg(target_os = "linux")]
fn perfetto_has_the_slow_calls_as_nested_slices() {
    let manifest = format!(
        "[dependencies]\ntsc-runtime = {{ path = {:?} }}\nlibc = \"0.2\"\n",
        Path::new(ROOT).join("tsc-runtime")
    );
    let project = Project::with_manifest(&manifest, PROGRAM);
    let dump = record(&project);
    project
        .tsc("export slow.json --format perfetto -o slow.pftrace")
        .ends(0);
    let file = project.path("slow.pftrace");
    let slices = read(&fs::read(&file).unwrap());
    // The values in the order of their ends, and the call of `serve` around them.
    let (mut found, mut sleeps) = (Vec::new(), 0);
    for slice in &slices {
        let parts: Vec<&str> = slice.split('|').collect();
        let [name, _, _, depth, pid, _, thread, value, path] = parts[..] else {
            panic!("{slice}");
        };
        assert_eq!(pid, dump["process"]["pid"].to_string());
        assert_eq!(thread, "server");
        let expected = match name {
            "app::request" => {
                found.push(value.parse::<u64>().unwrap());
                ("1", "app::request<app::serve")
            }
            "app::planted sleep" => {
                sleeps += 1;
                ("2", "app::planted sleep<app::request<app::serve")
            }
            _ => ("0", "app::serve"),
        };
        assert_eq!((depth, path), expected);
    }
    assert_eq!(found, PLANTED);
    assert_eq!((sleeps, slices.len()), (4, PLANTED.len() + 4 + 1));
    match python() {
        None => skipped("the Python package perfetto is not installed"),
        Some(python) => {
            let output = Command::new(python)
                .args(["-c", READ_IN_PYTHON])
                .arg(&file)
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let lines = String::from_utf8(output.stdout).unwrap();
            assert_eq!(lines.lines().collect::<Vec<_>>(), slices);
        }
    }
}

/// A Python that has the package: the one for which `.ci/steps/00-tools` installs it, or the system's.
fn python() -> Option<String> {
    let own = format!("{ROOT}/target/python/bin/python");
    [own, "python3".to_owned()].into_iter().find(|python| {
        let output = Command::new(python)
            .args(["-c", "import perfetto.protos"])
            .output();
        output.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn report_without_slow_calls_has_no_timeline() {
    let project = Project::new(crate::project::PROGRAM);
    let mut command = project.command("run --name none");
    let output = command.env("TSC_SLOWEST", "0").output().unwrap();
    assert!(output.status.success());
    project
        .tsc("export none --format perfetto -o none.pftrace")
        .ends(2)
        .complains("the report has no slow calls");
}
