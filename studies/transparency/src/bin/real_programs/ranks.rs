//! Compares the order of the rows by self ticks with their order by instructions. Callgrind counts the instructions, in a program without
//! probes in which the same functions are not inlined.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde_json::Value;
use transparency::cargo::executable;
use transparency::programs;
use transparency::programs::callgrind::instructions;
use transparency::programs::calls::Names;
use transparency::programs::statistics::spearman;
use transparency::project::copy_dir;

use crate::subject::{Subject, own_ticks};

/// Rows below this share of all self ticks are not ranked.
const RANKED: f64 = 0.01;

struct Row {
    name: String,
    /// The row's shares of the self ticks and of the instructions of all rows.
    ticks: f64,
    instructions: f64,
}

/// A line of the second table. `all` is the folder with the copies that `cargo tsc` has made.
pub fn line(
    subject: &Subject,
    report: &Value,
    all: &Path,
    folder: &Path,
    arguments: &[String],
) -> io::Result<String> {
    let program = not_inlined(subject, all, folder)?;
    let mut names = Names::default();
    let mut ticks = HashMap::<String, f64>::new();
    for row in report["report"]["callsites"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        *ticks
            .entry(names.add(text("module"), text("name")))
            .or_default() += own_ticks(row);
    }
    let name = |symbol: &str| names.find(symbol).unwrap_or_else(|| symbol.to_owned());
    let counted = instructions(&program, arguments, name, |name| ticks.contains_key(name))?;
    Ok(format!(
        "| {} | {} |",
        subject.name,
        compare(&ticks, &counted)
    ))
}

/// Builds the annotated copy with `#[inline(never)]` in place of `#[cycles]`.
fn not_inlined(subject: &Subject, all: &Path, folder: &Path) -> io::Result<PathBuf> {
    let copy = folder.join("not_inlined");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_dir(&all.join("annotated"), &copy)?;
    replace_attribute(&copy)?;
    let target = folder.join("not_inlined-target");
    let output = Command::new("cargo")
        .current_dir(&copy)
        // The dependencies have been built there.
        .env("CARGO_BUILD_BUILD_DIR", all.with_file_name(".build"))
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
        .args(["build", "--quiet", "--release", "--target-dir"])
        .arg(&target)
        .args(&subject.options)
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(said.into_owned()));
    }
    executable(&target.join("release"))
}

fn replace_attribute(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            replace_attribute(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = programs::not_inlined(&fs::read_to_string(&path)?);
            fs::write(&path, text)?;
        }
    }
    Ok(())
}

/// How well both orders agree, which row is the first in each, and which rows have different places. Of these, the ticks per instruction
/// show why: a row with many needs more time than others with as many instructions.
fn compare(ticks: &HashMap<String, f64>, counted: &HashMap<String, f64>) -> String {
    let all_ticks: f64 = ticks.values().sum();
    let all_counted: f64 = ticks.keys().filter_map(|name| counted.get(name)).sum();
    let mut rows: Vec<Row> = ticks
        .iter()
        .filter(|&(_, &own)| own > RANKED * all_ticks)
        .map(|(name, own)| Row {
            name: name.clone(),
            ticks: own / all_ticks,
            instructions: counted.get(name).copied().unwrap_or(0.0) / all_counted,
        })
        .collect();
    rows.sort_by(|a, b| b.instructions.total_cmp(&a.instructions));
    let order: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    rows.sort_by(|a, b| b.ticks.total_cmp(&a.ticks));
    let pairs: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| (row.ticks, row.instructions))
        .collect();
    let coefficient = match rows.len() {
        0 | 1 => "-".to_owned(),
        _ => format!("{:.2}", spearman(&pairs)),
    };
    let place = |row: &Row| order.iter().position(|name| *name == row.name).unwrap_or(0);
    let elsewhere: Vec<String> = rows
        .iter()
        .enumerate()
        .filter(|(index, row)| place(row) != *index)
        .map(|(index, row)| {
            let places = format!("{} by ticks, {} by instructions", index + 1, place(row) + 1);
            format!(
                "{}: {places}, {:.1} ×",
                row.name,
                row.ticks / row.instructions
            )
        })
        .collect();
    let first = |row: Option<&Row>| row.map_or_else(|| "-".to_owned(), shares);
    let top = rows.iter().find(|row| place(row) == 0);
    let same = match (rows.first(), top) {
        (Some(one), Some(other)) if one.name == other.name => "yes",
        _ => "no",
    };
    format!(
        "{} | {coefficient} | {} | {} | {same} | {}",
        rows.len(),
        first(rows.first()),
        first(top),
        elsewhere.join("; ")
    )
}

fn shares(row: &Row) -> String {
    let (ticks, instructions) = (row.ticks * 100.0, row.instructions * 100.0);
    format!("{} {ticks:.0} %, {instructions:.0} %", row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: [(&str, f64); 4]) -> HashMap<String, f64> {
        let named = values.map(|(name, value)| (name.to_owned(), value));
        named.into_iter().collect()
    }

    #[test]
    fn orders_are_compared_among_rows_that_matter() {
        let ticks = of([("a", 60.0), ("b", 30.0), ("c", 9.5), ("d", 0.5)]);
        // Instructions of a function without a row are not counted.
        let counted = of([("a", 50.0), ("b", 10.0), ("c", 40.0), ("memcpy", 1e6)]);
        assert_eq!(
            compare(&ticks, &counted),
            "3 | 0.50 | a 60 %, 50 % | a 60 %, 50 % | yes | b: 2 by ticks, 3 by instructions, 3.0 ×; c: 3 by ticks, 2 by instructions, 0.2 ×"
        );
        let otherwise = of([("a", 10.0), ("b", 50.0), ("c", 40.0), ("d", 0.0)]);
        assert!(compare(&ticks, &otherwise).contains(
            "| a 60 %, 10 % | b 30 %, 50 % | no | a: 1 by ticks, 3 by instructions, 6.0 ×"
        ));
    }
}
