//! speedscope, from its npm package, in a browser: it opens an exported file as its command line makes it, and lists the functions.

use std::collections::BTreeMap;
use std::fs;

use super::{Recorded, recorded};
use crate::browser::{SHOW, browser, seen};
use crate::npm::package;
use crate::project::skipped;

const PACKAGE: &str = "speedscope-1.25.0";

/// A script that, once a profile is open in speedscope, clicks on the view with a table of functions and lists the table.
fn script(name: &str, bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!(
        r#"
const seen = [];
const log = console.log;
console.log = (...words) => {{ seen.push(words.join(" ")); log(...words); }};
speedscope.loadFileFromBase64("{name}", btoa(String.fromCharCode({bytes})));
let turns = 0;
function look() {{
  // Timers and clocks run in virtual time here, which does not wait for the process that reads the profile. A loop takes real time.
  for (let left = 2e7; left > 0; left -= 1);
  const tabs = [...document.querySelectorAll("div")].filter((one) => one.children.length === 1);
  tabs.find((one) => one.textContent.endsWith("Sandwich"))?.click();
  const rows = [...document.querySelectorAll("table tr")].slice(1);
  turns += 1;
  if (rows.length === 0 && turns < 500) return setTimeout(look, 100);
  for (const row of rows) seen.push([...row.cells].map((cell) => cell.textContent).join("\t"));
  {SHOW}
}}
look();
"#,
        bytes = bytes.join(","),
    )
}

/// What speedscope says that it has opened, and the inclusive and self values of each function.
fn opened(
    recorded: &Recorded,
    format: &str,
    name: &str,
) -> Option<(String, BTreeMap<String, [String; 2]>)> {
    let needed = browser().ok_or("there is no Chromium to open speedscope in".to_owned());
    let (browser, package) =
        match needed.and_then(|browser| Ok((browser, package(PACKAGE)?.join("dist/release")))) {
            Ok(needed) => needed,
            Err(why) => {
                skipped(&why);
                return None;
            }
        };
    recorded.export(format, name);
    let project = &recorded.project;
    let bytes = fs::read(project.path(name)).unwrap();
    project.write("open.js", &script(name, &bytes));
    let url = format!(
        "file://{}#localProfilePath={}",
        package.join("index.html").display(),
        project.path("open.js").display()
    );
    // The table contains only the rows that fit into the window, so the window is high.
    let seen = seen(browser, &url, (1000, 3000));
    let (said, rows) = seen.split_once('\n').unwrap_or((&seen, ""));
    let rows = rows.lines().map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        let value = |cell: &str| cell.split(" (").next().unwrap().replace(',', "");
        (cells[2].to_owned(), [value(cells[0]), value(cells[1])])
    });
    Some((said.to_owned(), rows.collect()))
}

#[test]
fn speedscope_sums_folded_stacks() {
    let recorded = recorded();
    let Some((said, functions)) = opened(&recorded, "folded", "tree.folded") else {
        return;
    };
    assert_eq!(said, "Importing as collapsed stack format");
    let mut expected = BTreeMap::<String, [u64; 2]>::new();
    for line in recorded.project.read("tree.folded").lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let count: u64 = count.parse().unwrap();
        let stack: Vec<&str> = stack.split(';').collect();
        for name in &stack {
            expected.entry((*name).to_owned()).or_default()[0] += count;
        }
        expected.get_mut(*stack.last().unwrap()).unwrap()[1] += count;
    }
    let expected: BTreeMap<_, _> = expected
        .into_iter()
        .map(|(name, values)| (name, values.map(|value| value.to_string())))
        .collect();
    assert_eq!(functions, expected);
}

/// Parses `1.23µs`.
fn nanoseconds(text: &str) -> f64 {
    let unit = text.find(|one: char| one.is_alphabetic()).unwrap();
    let (number, unit) = text.split_at(unit);
    let scale = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        unit => panic!("{unit}"),
    };
    number.parse::<f64>().unwrap() * scale
}

#[test]
fn speedscope_sums_pprof_profiles() {
    let recorded = recorded();
    let Some((said, functions)) = opened(&recorded, "pprof", "tree.pb.gz") else {
        return;
    };
    assert_eq!(said, "Importing as protobuf encoded pprof file");
    let dump = recorded.project.json("tree.json");
    let each = 1e9 / dump["clock"]["hz"].as_f64().unwrap();
    // speedscope shows at least three digits, and the time of each context is a whole number.
    let near = |shown: &str, ticks: i64| {
        let (shown, time) = (nanoseconds(shown), ticks as f64 * each);
        (shown - time).abs() <= 0.01 * time + recorded.contexts.len() as f64
    };
    for (name, sums) in recorded.functions() {
        let shown = functions
            .get(name)
            .unwrap_or_else(|| panic!("{name}: {functions:?}"));
        assert!(
            near(&shown[0], sums.inclusive) && near(&shown[1], sums.own),
            "{name} {shown:?} {sums:?}"
        );
    }
}

#[test]
fn speedscope_sums_callgrind_profiles() {
    let recorded = recorded();
    let Some((said, functions)) = opened(&recorded, "callgrind", "callgrind.out") else {
        return;
    };
    assert_eq!(said, "Importing as Callgrind profile");
    assert_eq!(
        functions["<root>"],
        [recorded.all(), 0].map(|value| value.to_string())
    );
    // If functions call each other, speedscope has to guess which call of one was inside which call of the other.
    let guessed = ["app::even", "app::odd", "app::leaf"];
    for (name, sums) in recorded.functions() {
        if !guessed.contains(&name) {
            let expected = [sums.inclusive, sums.own].map(|value| value.to_string());
            assert_eq!(functions[name], expected, "{name}");
        }
    }
}
