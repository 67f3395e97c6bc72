//! The sample in the README and the picture of it are made of what `hotspots` prints: `TSC_DOCS=overwrite cargo test --release -p examples
//! --test sample` writes both anew. Otherwise their shape is compared with what it prints now, and not their figures.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pictures/terminal.svg");
const BEGIN: &str = "<!-- generated: TSC_DOCS=overwrite cargo test --release -p examples --test sample -->\n```text\n";
const END: &str = "```\n<!-- end -->";

/// The report that the example prints.
fn printed() -> String {
    let mut example = Command::new(env!("CARGO_BIN_EXE_hotspots"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TSC_") {
            example.env_remove(name);
        }
    }
    let output = example.output().expect("the example starts");
    String::from_utf8(output.stderr).expect("an example prints UTF-8")
}

/// What stands before the sample in the README, the sample, and what comes after it.
fn readme() -> [String; 3] {
    let text = fs::read_to_string(README).expect("the README is there");
    let (before, rest) = text.split_once(BEGIN).expect("the sample begins");
    let (sample, after) = rest.split_once(END).expect("the sample ends");
    [before, sample, after].map(str::to_owned)
}

/// The kinds of a report's lines, and the functions of its rows. Marks and remarks depend on the figures.
fn shape(report: &str) -> Vec<String> {
    let kind = |line: &str| {
        if let Some(row) = line.strip_prefix(":CLK: ") {
            return Some(row[..50].trim_end().to_owned());
        }
        [
            "tsc: hotspots took ",
            "      function ",
            "tsc: lfence probe: ",
        ]
        .iter()
        .find(|start| line.starts_with(**start))
        .map(|start| start.trim().to_owned())
    };
    let mut shape: Vec<String> = report.lines().filter_map(kind).collect();
    shape.sort();
    shape
}

/// Checks that each row has a cell of the right kind for each column.
fn assert_cells(report: &str) {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let is_time = |text: &str| {
        let text = text.trim_start_matches('<');
        let units = ["ns", "µs", "ms", "s"];
        text == "-"
            || units
                .iter()
                .any(|unit| text.strip_suffix(unit).is_some_and(is_number))
    };
    let heading = report
        .lines()
        .find(|line| line.starts_with("      function "));
    let heading = heading
        .expect("a heading")
        .chars()
        .skip(72)
        .collect::<String>();
    let columns: Vec<&str> = heading.split_whitespace().collect();
    assert!(
        columns.starts_with(&["self%"]) && columns.contains(&"mean"),
        "{report}"
    );
    for row in report.lines().filter(|line| line.starts_with(":CLK: ")) {
        assert!(row.chars().count() <= 100, "{row}");
        assert!(row[58..72].trim().parse::<i64>().is_ok(), "{row}");
        let cells: Vec<&str> = row[72..].split_whitespace().collect();
        assert_eq!(cells.len(), columns.len(), "{row}");
        for (&column, &cell) in columns.iter().zip(&cells) {
            let is_right = match column {
                "self%" => is_number(cell.trim_start_matches(['!', '~'])),
                "calls" => cell.replace(',', "").parse::<u64>().is_ok(),
                "±" => cell.strip_suffix('%').is_some_and(is_number),
                _ => is_time(cell),
            };
            assert!(is_right, "{column} {cell}: {row}");
        }
    }
}

/// The text as it looks in a terminal.
fn picture(report: &str) -> String {
    const LINE: usize = 18;
    let lines = report.lines().count();
    let (width, height) = (100 * 8 + 40, lines * LINE + 40);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"13.3\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    for (index, line) in report.lines().enumerate() {
        let colour = match line {
            line if line.starts_with(":CLK:") || line.contains(" took ") => "#f2f2f2",
            line if ["tsc: <", "tsc: !", "tsc: ~"]
                .iter()
                .any(|mark| line.starts_with(mark)) =>
            {
                "#e5c07b"
            }
            _ => "#8b919d",
        };
        let text = line.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"{}\" fill=\"{colour}\" xml:space=\"preserve\">{text}</text>",
            32 + index * LINE
        );
    }
    svg + "</svg>\n"
}

#[test]
fn sample_in_the_readme_is_what_the_example_prints() {
    let printed = printed();
    if std::env::var_os("TSC_DOCS").is_some_and(|value| value == "overwrite") {
        let is_release = !cfg!(debug_assertions);
        assert!(is_release, "the sample is of a release build");
        let [before, _, after] = readme();
        let text = format!("{before}{BEGIN}{printed}{END}{after}");
        fs::write(README, text).expect("the README can be written");
        fs::write(PICTURE, picture(&printed)).expect("the picture can be written");
    }
    let [_, sample, _] = readme();
    for report in [&sample, &printed] {
        assert_cells(report);
    }
    assert_eq!(shape(&sample), shape(&printed), "{sample}\n{printed}");
    let drawn = fs::read_to_string(PICTURE).expect("the picture is there");
    assert_eq!(drawn, picture(&sample));
}

#[test]
fn few_rows_need_a_remark() {
    // Files that are not in memory make some reads slow, and a remark says so. This run brings them there.
    printed();
    // A busy machine makes some calls slow, and remarks say so, too, but not in each of several runs.
    let mut runs = std::iter::repeat_with(printed).take(5);
    let has_few = |report: &String| {
        let of = |is: fn(&str) -> bool| report.lines().filter(|line| is(line)).count();
        let rows = of(|line| line.starts_with(":CLK:"));
        // The throughput of a row is no remark, but asked for.
        let remarks = of(|line| line.starts_with("        ") && !line.ends_with("/s"));
        3 * remarks <= rows
    };
    assert!(runs.any(|report| has_few(&report)), "{}", printed());
}
