//! What can be done with a report, whoever wrote it.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use tsc_runtime::{ReadError, Report, TextForm, TextOptions, TextSort, TextUnit};

use crate::command_line::{Format, Metric};
use crate::diff::{Policy, compare, objections};
use crate::export::export;
use crate::session::{self, Session};

/// A report of a real program, with few rows and something in every list.
pub const EXAMPLE: &str = include_str!("../report.json");

/// Checks that a text is refused with a reason, or read without loss and fit for everything.
///
/// # Panics
///
/// If not.
pub fn check(text: &str) {
    let report = match (
        Report::from_json(text),
        session::read::parse(text, Path::new("fuzzed")),
    ) {
        (Ok(report), Ok(parsed)) => {
            assert_eq!(report, parsed);
            report
        }
        // The last line of several.
        (Err(_), Ok(report)) => report,
        (Err(read), Err(parse)) => {
            assert!(parse.to_string().starts_with(&format!("fuzzed: {read}")));
            return;
        }
        (Ok(_), Err(error)) => panic!("cargo-tsc: {error}"),
    };
    let again =
        Report::from_json(&report.to_json()).expect("what was read and written is a report");
    assert_eq!(report, again);
    let example = Report::from_json(EXAMPLE).expect("the example is a report");
    print(&report);
    for other in [&report, &example] {
        add_and_take_away(&report, other);
        add_and_take_away(other, &report);
    }
    export_and_compare(&report, &example);
}

/// As text and as metrics.
pub fn print(report: &Report) {
    let options = TextOptions::default();
    let others = [
        options
            .clone()
            .form(TextForm::Histogram)
            .sort(TextSort::Total),
        options
            .clone()
            .form(TextForm::Full)
            .unit(TextUnit::Time)
            .sort(TextSort::Wall),
        options
            .clone()
            .width(0)
            .top(1)
            .unit(TextUnit::Cycles)
            .sort(TextSort::Calls),
        options.clone().width(300).sort(TextSort::Mean),
        options.clone().width(150).sort(TextSort::Name),
        options,
    ];
    for options in others {
        let text = report.to_text(&options);
        let wrong = text.chars().find(|&it| it != '\n' && it.is_control());
        assert_eq!(wrong, None, "in {text}");
    }
    assert!(report.to_openmetrics().ends_with("# EOF\n"));
    let _ = report.to_prometheus();
}

fn add_and_take_away(one: &Report, other: &Report) {
    let mut sum = one.clone();
    if sum.merge(other).is_err() {
        assert_eq!(sum, *one, "refused, and changed");
        return;
    }
    assert!(sum.callsites().len() <= one.callsites().len() + other.callsites().len());
    // A sum of what is just acceptable may be too much. It is JSON, at least.
    match Report::from_json(&sum.to_json()) {
        Ok(read) => assert_eq!(read, sum),
        Err(ReadError::Inconsistent(_)) => {}
        Err(error) => panic!("{error}"),
    }
    for (later, earlier) in [(&sum, one), (&sum, other), (one, &sum), (&sum, &sum)] {
        if let Some(difference) = later.since(earlier) {
            assert!(difference.callsites().len() <= later.callsites().len());
            print(&difference);
        }
    }
    print(&sum);
}

fn export_and_compare(report: &Report, example: &Report) {
    let alone = session(&[report]);
    for format in Format::value_variants() {
        for session in [
            &alone,
            &session(&[report, report]),
            &session(&[example, report]),
        ] {
            let Ok(bytes) = export(session, *format) else {
                continue;
            };
            match format {
                Format::Pprof | Format::Perfetto => {}
                Format::Jsonl => json(String::from_utf8(bytes).expect("text").lines()),
                Format::Bmf | Format::GithubBenchmark => {
                    json([String::from_utf8(bytes).expect("text").as_str()]);
                }
                _ => assert!(std::str::from_utf8(&bytes).is_ok()),
            }
        }
    }
    cargo_tsc::html::page(report, Some(example), &[], true).expect("a page");
    let other = session(&[example]);
    let both = [(&alone, &other), (&other, &alone), (&alone, &alone)];
    for (before, after) in both {
        let comparison = compare(before, after, &Policy::default());
        serde_json::to_string(&comparison).expect("it can be written");
        let _ = objections(before, after, &Policy::default());
        for metric in Metric::value_variants() {
            crate::diff::values(after, *metric);
        }
    }
}

fn json<'a>(texts: impl IntoIterator<Item = &'a str>) {
    for text in texts {
        serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    }
}

/// The export of one report.
///
/// # Panics
///
/// If it has no tree.
#[must_use]
pub fn folded(report: &Report) -> String {
    let bytes = export(&session(&[report]), Format::Folded).expect("there is a tree");
    String::from_utf8(bytes).expect("text")
}

fn session(runs: &[&Report]) -> Session {
    Session {
        label: "fuzzed".to_owned(),
        path: PathBuf::new(),
        about: None,
        runs: runs.iter().map(|&run| run.clone()).collect(),
        folders: vec![String::new(); runs.len()],
    }
}
