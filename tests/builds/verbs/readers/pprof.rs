//! pprof profiles: by their definition, <https://github.com/google/pprof/blob/main/proto/profile.proto>, and by `go tool pprof`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;

use super::protobuf::{fields, number, numbers};
use super::recorded;
use crate::project::skipped;

/// A sample: the names of its stack, innermost first, and its values.
type Sample = (Vec<String>, Vec<i64>);

/// The kinds of values with their units, and the samples.
fn read(bytes: &[u8]) -> (Vec<(String, String)>, Vec<Sample>) {
    let all = fields(bytes);
    let of = |field: u64| {
        let found = all.iter().filter(move |(number, _)| *number == field);
        found.map(|(_, value)| value.bytes())
    };
    let strings: Vec<&str> = of(6)
        .map(|text| std::str::from_utf8(text).unwrap())
        .collect();
    assert_eq!(strings[0], "", "so it is defined");
    assert_eq!(
        strings.iter().collect::<BTreeSet<_>>().len(),
        strings.len(),
        "each text once"
    );
    let text = |index: u64| strings[index as usize].to_owned();
    let kinds = of(1)
        .map(|kind| (text(number(kind, 1)), text(number(kind, 2))))
        .collect();
    let functions: BTreeMap<u64, String> = of(5)
        .map(|function| (number(function, 1), text(number(function, 2))))
        .collect();
    let locations: BTreeMap<u64, &String> = of(4)
        .map(|location| {
            let lines = fields(location);
            let (_, line) = lines.iter().find(|(field, _)| *field == 4).unwrap();
            (number(location, 1), &functions[&number(line.bytes(), 1)])
        })
        .collect();
    let samples = of(2)
        .map(|sample| {
            let stack = numbers(sample, 1)
                .into_iter()
                .map(|id| locations[&id].clone());
            let values = numbers(sample, 2).into_iter().map(u64::cast_signed);
            (stack.collect(), values.collect())
        })
        .collect();
    (kinds, samples)
}

#[test]
fn pprof_profile_has_a_sample_for_each_context() {
    let recorded = recorded();
    recorded.export("pprof", "samples.pb.gz");
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(recorded.project.path("samples.pb.gz")).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    let (kinds, samples) = read(&bytes);
    let names: Vec<_> = kinds
        .iter()
        .map(|(kind, unit)| format!("{kind} {unit}"))
        .collect();
    assert_eq!(names[..2], ["calls count", "self ticks"]);
    assert_eq!(samples.len(), recorded.contexts.len());
    for (index, (stack, values)) in samples.iter().enumerate() {
        let context = &recorded.contexts[index];
        let mut expected = recorded.stack(index);
        expected.reverse();
        assert_eq!(*stack, expected);
        assert_eq!(values[..2], [context.calls.cast_signed(), context.own]);
        assert_eq!(values.len(), kinds.len());
    }
}

/// The self and inclusive values of each function in the output of `go tool pprof -top` for `top.pb.gz` in the project.
fn top(folder: &Path, sample_index: &str) -> Option<BTreeMap<String, (i64, i64)>> {
    let output = Command::new("go")
        .args(["tool", "pprof", "-top", "-nodecount=1000"])
        .args(["-nodefraction=0", "-edgefraction=0"])
        .arg(format!("-sample_index={sample_index}"))
        .arg("top.pb.gz")
        .current_dir(folder)
        .output()
        .ok()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, rows) = text.split_once("flat%").unwrap_or_else(|| panic!("{text}"));
    let rows = rows.lines().skip(1);
    Some(
        rows.map(|row| {
            // flat flat% sum% cum cum% name
            let mut rest = row;
            let figures = [(); 5].map(|()| {
                let (figure, after) = rest.trim_start().split_once(' ').unwrap();
                rest = after;
                figure
            });
            let value = |figure: &str| {
                let number = figure.trim_end_matches("ticks").parse();
                number.unwrap_or_else(|_| panic!("{text}"))
            };
            (
                rest.trim_start().to_owned(),
                (value(figures[0]), value(figures[3])),
            )
        })
        .collect(),
    )
}

#[test]
fn go_tool_pprof_has_our_sums() {
    let recorded = recorded();
    recorded.export("pprof", "top.pb.gz");
    let folder = recorded.project.path("");
    let Some(calls) = top(&folder, "calls") else {
        return skipped("there is no `go tool pprof`");
    };
    let ticks = top(&folder, "self").unwrap();
    for (name, sums) in recorded.functions() {
        assert_eq!(calls[name].0, sums.calls.cast_signed(), "{name}");
        assert_eq!(ticks[name], (sums.own, sums.inclusive), "{name}");
    }
}
