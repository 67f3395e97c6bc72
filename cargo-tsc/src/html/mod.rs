//! Writes a self-contained page for a report: rows, histograms, call tree. The page needs no network and can be opened as a file.
//!
//! The flame graph is d3-flame-graph, which uses d3 (Apache-2.0 and ISC, see `assets/`). It can zoom, search and lay out thousands of
//! boxes, and it is maintained. Both libraries are in the page. Everything else is in the other scripts, which read only the report.

mod paths;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use tsc_report::__private::OTHER;
use tsc_report::{CallsiteReport, Report};

const PAGE: &str = include_str!("assets/page.html");

/// The page for `report`, with what the session says of it. If `base` is given, the page shows what changed since `base`.
/// `own_attributes`: whether the attributes are in the user's own source.
///
/// # Errors
///
/// If a report cannot be written as JSON.
pub fn page(
    report: &Report,
    base: Option<&Report>,
    remarks: &[String],
    own_attributes: bool,
) -> Result<String, serde_json::Error> {
    let base = base.map(without_absolute_paths).transpose()?;
    let report_data = without_absolute_paths(report)?;
    let title = report_data["process"]["argv"][0]
        .as_str()
        .unwrap_or_default();
    let parts = [
        ("title", escape(&format!("tsc: {title}"))),
        ("css", include_str!("assets/page.css").to_owned()),
        ("remarks", remarks.iter().map(|text| item(text)).collect()),
        ("report", json(&report_data)?),
        ("base", json(&base)?),
        ("shown", json(&shown(report, own_attributes))?),
        ("d3", include_str!("assets/d3.min.js").to_owned()),
        (
            "flamegraph",
            include_str!("assets/d3-flamegraph.umd.min.js").to_owned(),
        ),
        ("figures", include_str!("assets/figures.js").to_owned()),
        ("histogram", include_str!("assets/histogram.js").to_owned()),
        ("rows", include_str!("assets/rows.js").to_owned()),
        ("flame", include_str!("assets/flame.js").to_owned()),
        ("page", include_str!("assets/page.js").to_owned()),
    ];
    Ok(fill(PAGE, &parts))
}

/// The number of bytes by which a page is recognised.
const HEAD: u64 = 1000;

/// Whether the file is a page of this tool, or of another version of it.
///
/// # Errors
///
/// If the file cannot be read.
pub fn is_page(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    Ok(head.starts_with("<!doctype html>") && head.contains("<title>tsc: "))
}

/// Replaces each `{{name}}` in the text by its part. The parts themselves are not searched.
fn fill(text: &str, parts: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut pieces = text.split("{{");
    filled.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        let part = parts.iter().find(|(known, _)| *known == name);
        filled.push_str(part.map_or("", |(_, part)| part));
        filled.push_str(rest);
    }
    filled
}

/// The report as data. A page is shown to others, whom the folders of this machine do not concern.
fn without_absolute_paths(report: &Report) -> Result<Value, serde_json::Error> {
    let mut data = serde_json::to_value(report)?;
    let change = |text: &mut Value, shorten: fn(&str) -> &str| {
        if let Value::String(text) = text {
            *text = paths::argument(text, shorten);
        }
    };
    if let Some(arguments) = data["process"]["argv"].as_array_mut() {
        for argument in arguments {
            change(argument, paths::last);
        }
    }
    if let Some(program) = data["process"]["argv"].get_mut(0) {
        *program = program.as_str().map(paths::last).into();
    }
    if let Some(callsites) = data["callsites"].as_array_mut() {
        for callsite in callsites {
            change(&mut callsite["file"], paths::in_package);
            // A number of a script has 53 bits.
            let calls = callsite["slowest"].as_array_mut().into_iter().flatten();
            for value in calls.map(|call| &mut call["value"]) {
                if value.is_number() {
                    *value = value.to_string().into();
                }
            }
        }
    }
    Ok(data)
}

/// What the text shows besides the report's own figures: of the program, and of each row; and its rules.
fn shown(report: &Report, own_attributes: bool) -> Value {
    let rows = report.callsites().iter().zip(report.marks(own_attributes));
    let rows = rows.map(|(row, mark)| {
        json!({
            "self": row.own(),
            "blocked": row.self_on_cpu_ticks().map(|_| row.own_blocked().max(0.0)),
            "error": row.self_error_share(),
            "mark": mark,
        })
    });
    json!({
        "facts": report.facts(),
        "rows": rows.collect::<Vec<Value>>(),
        "resolved_ticks": CallsiteReport::RESOLVED_TICKS,
        "other": OTHER,
    })
}

/// Data as JSON for a script element: no character in it can end the element.
fn json(data: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(data)?.replace('<', "\\u003c"))
}

/// An item of a list.
fn item(text: &str) -> String {
    let words = text.split(' ');
    let words: Vec<String> = words
        .map(|word| paths::argument(word, paths::last))
        .collect();
    format!("<li>{}</li>", escape(&words.join(" ")))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_are_not_the_users_are_not_to_be_changed() {
        let mut json = serde_json::to_value(Report::default()).unwrap();
        json["callsites"] = json!([{
            "name": "short", "module": "m", "file": "m.rs", "line": 1, "probe": "light", "calls": 900,
            "self_ticks": 5000, "probe_ticks": 6300,
        }]);
        let report = Report::from_json(&json.to_string()).unwrap();
        let advises = |own_attributes| {
            let page = page(&report, None, &[], own_attributes).unwrap();
            assert!(page.contains("over a third is probes"));
            page.contains("#[cycles(skip)]")
        };
        assert!(advises(true) && !advises(false));
    }

    #[test]
    fn parts_are_not_looked_into() {
        let parts = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(fill("1 {{a}} 2 {{b}} 3", &parts), "1 {{b}} 2 x 3");
    }

    #[test]
    fn page_is_small_and_needs_nothing_from_elsewhere() {
        let page = page(&Report::default(), None, &[], true).unwrap();
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
        assert!(!page.contains("{{"), "a part is missing");
        for needs in ["<script src", "<link", "@import", "url("] {
            assert!(!page.contains(needs), "{needs}");
        }
        let base = super::page(&Report::default(), Some(&Report::default()), &[], true).unwrap();
        assert!(base.len() > page.len());
    }

    #[test]
    fn page_has_no_absolute_path() {
        let mut report = Report::default();
        report.process.argv = ["/home/someone/bin/program", "--to=/home/someone/file"]
            .map(str::to_owned)
            .to_vec();
        report.callsites.push(tsc_report::CallsiteReport {
            file: "/home/someone/.cargo/registry/src/index/parser-1.0.2/src/de/read.rs".to_owned(),
            ..Default::default()
        });
        let remarks = ["not measured: <parser>, see /home/someone/log".to_owned()];
        let page = page(&report, Some(&report), &remarks, true).unwrap();
        assert!(!page.contains("someone"));
        assert!(page.contains("<li>not measured: &lt;parser>, see log</li>"));
        assert!(page.contains("<title>tsc: program</title>") && page.contains("--to=file"));
        assert!(page.contains("\"parser-1.0.2/src/de/read.rs\""));
    }
}
