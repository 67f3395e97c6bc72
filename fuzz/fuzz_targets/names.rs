//! Names of functions, modules, files and threads, and whatever else is text in a report, in all outputs.

#![no_main]

use std::collections::HashMap;
use std::ffi::CString;

use serde_json::{Value, json};
use tsc_fuzz::reports::{EXAMPLE, folded, print};
use tsc_runtime::{Report, TextForm, TextOptions};

/// Name, module, file.
type Row = (String, String, String);

libfuzzer_sys::fuzz_target!(|input: (Vec<Row>, String)| {
    let (mut rows, text) = input;
    rows.truncate(8);
    for (name, module, _) in &rows {
        assert!(tsc_runtime::__fuzzing::within(name, module).len() <= name.len());
    }
    if rows.is_empty() {
        return;
    }
    let report =
        Report::from_json(&report(&rows, &text).to_string()).expect("names may be anything");
    print(&report);
    dump(&report);
    metrics(&report);
    stacks(&report);
});

/// The example with these rows, each called from the one before it; other texts are `text`.
fn report(rows: &[Row], text: &str) -> Value {
    let mut report: Value = serde_json::from_str(EXAMPLE).expect("it is JSON");
    replace(&mut report["process"], text);
    replace(&mut report["machine"], text);
    replace(&mut report["clock"], text);
    let model = &report["callsites"][0];
    let all = rows.iter().zip(0..).map(|((name, module, file), line)| {
        let mut row = model.clone();
        replace(&mut row["thread_rows"], text);
        replace(&mut row["events"], text);
        for (key, value) in [("name", name), ("module", module), ("file", file)] {
            row[key] = json!(value);
        }
        row["line"] = json!(line);
        row["slowest"][0]["path"] = json!([line]);
        row
    });
    let context = &report["contexts"][0];
    let contexts = (0..rows.len()).map(|index| {
        let mut context = context.clone();
        context["callsite"] = json!(index);
        context["parent"] = json!(index.checked_sub(1));
        context
    });
    let (all, contexts): (Vec<Value>, Vec<Value>) = (all.collect(), contexts.collect());
    report["callsites"] = json!(all);
    report["contexts"] = json!(contexts);
    report["left_out"] = json!([text]);
    report
}

/// All texts, and what might be one.
fn replace(value: &mut Value, text: &str) {
    match value {
        Value::Null | Value::String(_) => *value = json!(text),
        Value::Array(list) => list.iter_mut().for_each(|value| replace(value, text)),
        Value::Object(fields) => {
            // `null` there is no text.
            let numbers = [
                "ended",
                "pinned_cpu",
                "boost",
                "smt",
                "since_ns",
                "stated_hz",
            ];
            let fields = fields
                .iter_mut()
                .filter(|(key, _)| !numbers.contains(&key.as_str()));
            fields.for_each(|(_, value)| replace(value, text));
        }
        Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A line a row that programs read as GCLK's, and rows that look alike have remarks that differ.
fn dump(report: &Report) {
    for form in [TextForm::Short, TextForm::Full] {
        let text = report.to_text(&TextOptions::default().form(form));
        let (_, rows) = text.split_once("\n:CLK: ").expect("there is a row");
        let mut seen = HashMap::new();
        let rows: Vec<&str> = rows.split("\n:CLK: ").collect();
        assert_eq!(rows.len(), report.callsites().len(), "{text}");
        for row in rows {
            let (first, remarks) = row.split_once('\n').unwrap_or((row, ""));
            let (name, rest) = first.split_at(50);
            assert!(rest.starts_with(" :"), "{first:?}");
            scan(&format!(":CLK: {first}"), name);
            // The remarks of the last row are followed by other lines, so it is unlike the others in any case.
            if let Some(other) = seen.insert(name, remarks) {
                assert_ne!(other, remarks, "{text}");
            }
        }
    }
}

/// As a program in C reads it.
fn scan(line: &str, name: &str) {
    let line = CString::new(line).expect("no control characters");
    let mut column = [0_u8; 50];
    let mut ticks: libc::c_longlong = -1;
    // SAFETY: 50 characters and a number are read, to where there is room for them.
    let read = unsafe {
        libc::sscanf(
            line.as_ptr(),
            c":CLK:%*c%50c :%lld".as_ptr(),
            column.as_mut_ptr(),
            &raw mut ticks,
        )
    };
    assert_eq!((read, column.as_slice()), (2, name.as_bytes()), "{line:?}");
    assert_eq!(ticks, 4_510_124_051, "{line:?}");
}

/// Each label reads back as what it was.
fn metrics(report: &Report) {
    let text = report.to_openmetrics();
    let calls: Vec<&str> = text
        .split('\n')
        .filter_map(|line| line.strip_prefix("tsc_calls_total{"))
        .collect();
    assert_eq!(calls.len(), report.callsites().len(), "{text}");
    for (line, row) in calls.iter().zip(report.callsites()) {
        let location = format!("{}:{}", row.file(), row.line());
        let mut rest = *line;
        for (label, expected) in [
            ("module", row.module()),
            ("name", row.name()),
            ("location", &location),
        ] {
            // OpenMetrics has no difference between an empty label and none.
            if expected.is_empty() {
                continue;
            }
            rest = rest.trim_start_matches(',');
            let (value, after) = label_value(rest, label);
            assert_eq!(value, expected, "{line}");
            rest = after;
        }
        let others = r#",probe="timed",fence="lfence",unit="bytes""#;
        assert_eq!(rest, format!("{others}}} {}", row.calls()), "{line}");
    }
}

/// The value of `label="value"…` as OpenMetrics has it, and what follows.
fn label_value<'a>(text: &'a str, label: &str) -> (String, &'a str) {
    let inside = text
        .strip_prefix(label)
        .and_then(|text| text.strip_prefix("=\""));
    let mut characters = inside
        .unwrap_or_else(|| panic!("no {label} in {text}"))
        .chars();
    let mut value = String::new();
    loop {
        match characters.next().expect("it ends") {
            '"' => return (value, characters.as_str()),
            '\\' => value.push(match characters.next().expect("it ends") {
                'n' => '\n',
                same @ ('\\' | '"') => same,
                other => panic!("\\{other} in {text}"),
            }),
            character => value.push(character),
        }
    }
}

/// A line a context: a frame a level, and a number.
fn stacks(report: &Report) {
    let text = folded(report);
    let mut depth = 0;
    for line in text.split_terminator('\n') {
        assert!(!line.contains(char::is_control), "{line:?}");
        let (stack, count) = line.rsplit_once(' ').expect("a number");
        assert!(count.parse::<u64>().is_ok_and(|count| count > 0), "{line}");
        depth += 1;
        assert_eq!(stack.split(';').count(), depth, "{line}");
    }
    assert_eq!(depth, report.contexts().len(), "{text}");
}
