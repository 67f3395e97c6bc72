//! pprof's `profile.proto`, compressed: for `go tool pprof`, speedscope and Perfetto.

use std::collections::HashMap;
use std::io::Write as _;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use tsc_report::Report;

use crate::rows::path;
use crate::stacks::{OTHER, stack, whole_ticks};

// The messages of https://github.com/google/pprof/blob/main/proto/profile.proto, as far as they are used here.

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

/// The field 3, the name for the linker, is left out. If it were equal to `name`, pprof would try to demangle the name, and remove what is
/// between angle brackets.
#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// A sample for each context: its calls, its self ticks and, if the clock's rate is known, its self time.
pub fn bytes(report: &Report) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&profile(report).encode_to_vec())?;
    Ok(encoder.finish()?)
}

impl Profile {
    /// Adds a function and its only location. Both have the number that is returned: the first one has 1.
    fn add_function(&mut self, name: i64, filename: i64, line: u32) -> u64 {
        let id = self.function.len() as u64 + 1;
        let line = i64::from(line);
        self.function.push(Function {
            id,
            name,
            filename,
            start_line: line,
        });
        let line = Line {
            function_id: id,
            line,
        };
        self.location.push(Location {
            id,
            line: vec![line],
        });
        id
    }
}

fn profile(report: &Report) -> Profile {
    let mut strings = Strings::default();
    let nanoseconds = report.clock().hz().map(|hz| 1e9 / hz);
    // That of several processes is not known, and shares are of it.
    let is_one = report.processes() <= 1;
    let duration = is_one.then(|| report.process().duration_ns() as i64);
    let mut profile = Profile {
        duration_nanos: duration.unwrap_or(0),
        ..Profile::default()
    };
    for (kind, unit) in [
        ("calls", "count"),
        ("self", "ticks"),
        ("time", "nanoseconds"),
    ] {
        if unit != "nanoseconds" || nanoseconds.is_some() {
            profile.sample_type.push(ValueType {
                r#type: strings.index(kind),
                unit: strings.index(unit),
            });
        }
    }
    profile.default_sample_type = strings.index(if nanoseconds.is_some() {
        "time"
    } else {
        "self"
    });
    for row in report.callsites() {
        let (name, file) = (strings.index(&path(row)), strings.index(row.file()));
        profile.add_function(name, file, row.line());
    }
    // The calls for which the tree had no room.
    let other = profile.add_function(strings.index(OTHER), 0, 0);
    for context in report.contexts() {
        let mut value = vec![
            context.calls().unwrap_or(0) as i64,
            whole_ticks(context.self_ticks()),
        ];
        value.extend(nanoseconds.map(|each| whole_ticks(context.self_ticks() * each)));
        let location_id = stack(report, context)
            .map(|context| context.callsite().map_or(other, |index| index + 1))
            .collect();
        profile.sample.push(Sample { location_id, value });
    }
    profile.string_table = strings.table;
    profile
}

/// A table of strings without duplicates. The first one is empty.
struct Strings {
    table: Vec<String>,
    known: HashMap<String, i64>,
}

impl Default for Strings {
    fn default() -> Self {
        Self {
            table: vec![String::new()],
            known: HashMap::from([(String::new(), 0)]),
        }
    }
}

impl Strings {
    fn index(&mut self, text: &str) -> i64 {
        if let Some(&index) = self.known.get(text) {
            return index;
        }
        let index = self.table.len() as i64;
        self.table.push(text.to_owned());
        self.known.insert(text.to_owned(), index);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_of_several_processes_is_not_known() {
        let of = |processes: u64| {
            let mut json = serde_json::to_value(Report::default()).unwrap();
            json["process"]["duration_ns"] = 1000.into();
            json["processes"] = processes.into();
            profile(&Report::from_json(&json.to_string()).unwrap()).duration_nanos
        };
        assert_eq!([of(1), of(2)], [1000, 0]);
    }
}
