//! The dump for people: in a terminal of any width, with names of any kind, in the units and the order that the user selects.

#![cfg(unix)]

use std::ffi::{CString, c_char};
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Output, Stdio};

fn program() -> Command {
    let mut program = tests::program(env!("CARGO_BIN_EXE_naming"));
    program.env("TERM", "xterm-256color");
    program
}

/// What the program prints on stderr if that is not a terminal.
fn dump(environment: &[(&str, &str)]) -> String {
    let output: Output = program()
        .envs(environment.iter().copied())
        .output()
        .expect("the test's own program starts");
    assert!(output.status.success());
    String::from_utf8(output.stderr).expect("the dump is UTF-8")
}

/// What the program prints on a terminal with the given number of columns.
fn dump_on_terminal(columns: u16, environment: &[(&str, &str)]) -> Vec<u8> {
    let (mut controller, mut terminal) = (0, 0);
    let size = libc::winsize {
        ws_row: 200,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: there is room for both descriptors, and the size is read only.
    let failed = unsafe {
        libc::openpty(
            &raw mut controller,
            &raw mut terminal,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            (&raw const size).cast_mut(),
        )
    };
    assert_eq!(failed, 0, "there are terminals");
    // SAFETY: both descriptors were opened just now, and nothing else owns them.
    let (mut controller, terminal) = unsafe {
        (
            File::from_raw_fd(controller),
            OwnedFd::from_raw_fd(terminal),
        )
    };
    let mut child = program()
        .envs(environment.iter().copied())
        .stderr(Stdio::from(terminal))
        .spawn()
        .expect("the test's own program starts");
    let mut text = Vec::new();
    // On Linux, reading from a terminal ends with an error when no program has it open any more.
    let _ = controller.read_to_end(&mut text);
    assert!(child.wait().expect("the program ends").success());
    text
}

fn rows(dump: &str) -> impl Iterator<Item = &str> {
    dump.lines().filter(|line| line.starts_with(":CLK:"))
}

#[test]
fn dump_fits_every_terminal() {
    for columns in [80, 100, 120, 160, 200] {
        let text = dump_on_terminal(columns, &[("TSC_REPORT", "histogram")]);
        let mut parser = vt100::Parser::new(200, columns, 0);
        parser.process(&text);
        let screen = parser.screen();
        let lines: Vec<String> = screen.rows(0, columns).collect();
        let wrapped = (0..200).filter(|&row| screen.row_wrapped(row)).count();
        assert_eq!(wrapped, 0, "{columns} columns:\n{}", lines.join("\n"));
        // Each row is one line. Its total is in the columns where GCLK prints it, if the name is ASCII.
        let row = lines
            .iter()
            .find(|line| line.starts_with(":CLK: slow"))
            .unwrap_or_else(|| panic!("{}", lines.join("\n")));
        assert_eq!(&row[56..58], " :");
        assert!(row[58..72].trim().parse::<u64>().is_ok(), "{row}");
        assert_eq!(
            lines
                .iter()
                .filter(|line| line.starts_with(":CLK:"))
                .count(),
            9
        );
    }
}

#[test]
fn wider_terminals_have_more_columns() {
    let heading = |columns| {
        // Without the column for time in which the program was blocked: whether there is any is the system's affair.
        let text = dump_on_terminal(columns, &[("NO_COLOR", "1"), ("TSC_ON_CPU", "off")]);
        let text = String::from_utf8(text).expect("the dump is UTF-8");
        let heading = text.lines().find(|line| line.contains("total ticks"));
        let heading = heading.expect("there is a heading");
        heading.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let headings = [80, 100, 120, 160].map(heading);
    assert!(headings[0].ends_with("self%"), "{headings:#?}");
    assert!(headings.iter().all(|heading| heading.contains("self%")));
    assert!(
        headings[1].ends_with("self% self calls mean") && !headings[1].contains("p50"),
        "{headings:#?}"
    );
    assert!(headings[2].contains("calls mean p50 p99"), "{headings:#?}");
    assert!(headings[3].ends_with("first"), "{headings:#?}");
}

#[test]
fn without_a_terminal_there_are_100_columns_and_no_colours() {
    let text = dump(&[]);
    assert!(!text.contains('\x1b'));
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(text.lines().any(|line| line.chars().count() > 85), "{text}");
}

#[test]
fn colour_is_for_terminals_whose_user_wants_it() {
    let coloured =
        |environment: &[(&str, &str)]| dump_on_terminal(100, environment).contains(&b'\x1b');
    assert!(coloured(&[]));
    assert!(!coloured(&[("NO_COLOR", "1")]));
    assert!(!coloured(&[("TERM", "dumb")]));
    assert!(coloured(&[("NO_COLOR", "")]));
}

/// GCLK printed `\n:CLK: %-50.50s :%14I64d`. Programs that read its lines can read these.
#[test]
fn every_row_is_read_by_scanf() {
    let text = dump(&[]);
    let format = CString::new(":CLK: %50c :%14lld").expect("the text has no zero byte");
    let mut names = Vec::new();
    for row in rows(&text) {
        let row = CString::new(row).expect("the text has no zero byte");
        let mut name = [0_u8; 51];
        let mut total: libc::c_longlong = -1;
        // SAFETY: there is room for 50 characters and a number, as the format says.
        let found = unsafe {
            libc::sscanf(
                row.as_ptr(),
                format.as_ptr(),
                name.as_mut_ptr().cast::<c_char>(),
                &raw mut total,
            )
        };
        assert_eq!(found, 2, "{row:?}");
        assert!(
            total >= 0 || row.to_string_lossy().contains(" :  "),
            "{row:?}"
        );
        let name = std::str::from_utf8(&name[..50]).expect("whole characters");
        names.push(name.trim_end().to_owned());
    }
    names.sort();
    let mut expected = [
        "short",
        "slow",
        "now fast, now slow",
        "a name of more than fifty bytes, of which the dump",
        "a name of more than fifty bytes, of which the dump",
        r"controls \u{1b}[2J\u{7} and\nbreaks\r\tand\u{202e}",
        "четыре 🦀🦀🦀🦀🦀🦀🦀🦀🦀",
        "naming::same",
        "naming::inner::same",
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn names_that_look_alike_are_told_apart_below() {
    let text = dump(&[]);
    for end in ["one", "two"] {
        let note = format!("of which the dump shows fifty: {end} at");
        assert!(text.replace("\n       ", "").contains(&note), "{text}");
    }
}

#[test]
fn nothing_of_a_name_reaches_the_terminal_as_a_command() {
    for form in ["text", "full", "histogram", "json"] {
        let text = dump(&[("TSC_REPORT", form)]);
        let foreign = |character: &char| {
            (character.is_control() && *character != '\n')
                || ('\u{200b}'..='\u{200f}').contains(character)
                || ('\u{202a}'..='\u{202e}').contains(character)
        };
        if form != "json" {
            assert_eq!(text.chars().find(foreign), None, "{form}");
        } else {
            assert!(!text.contains(['\x1b', '\x07']));
        }
    }
}

#[test]
fn units_are_said_and_change_the_figures() {
    let mean = |unit| {
        let text = dump(&[("TSC_UNIT", unit), ("TSC_SORT", "name")]);
        let row = rows(&text).find(|row| row.contains("now fast"));
        let row = row.expect("the row").to_owned();
        // GCLK's column is in ticks, whatever the unit is.
        assert!(row[58..72].trim().parse::<u64>().is_ok(), "{row}");
        let mean = row.split_whitespace().last().expect("the mean").to_owned();
        (text, mean)
    };
    let (text, time) = mean("time");
    assert!(text.contains("function  "), "{text}");
    assert!(time.ends_with("µs") || time.ends_with("ms"), "{text}");
    let (text, ticks) = mean("ticks");
    assert!(text.contains("function; times in ticks"), "{text}");
    assert!(
        ticks.parse::<f64>().is_ok_and(|ticks| ticks > 0.0),
        "{text}"
    );
    let (text, cycles) = mean("cycles");
    if text.contains("the core's clock is unknown here") {
        assert!(text.contains("times in ticks"), "{text}");
    } else {
        assert!(text.contains("times in core cycles"), "{text}");
        assert!(text.contains("core cycles are ticks × "), "{text}");
        assert!(
            cycles.parse::<f64>().is_ok_and(|cycles| cycles > 0.0),
            "{text}"
        );
    }
}

#[test]
fn order_and_number_of_rows_are_as_asked() {
    let names = |environment: &[(&str, &str)]| -> Vec<String> {
        let text = dump(environment);
        let name = |row: &str| {
            row[6..row.find(" :  ").expect("the total")]
                .trim_end()
                .to_owned()
        };
        rows(&text).map(name).collect()
    };
    let by_name = names(&[("TSC_SORT", "name")]);
    let mut sorted = by_name.clone();
    sorted.sort();
    assert_eq!(by_name.len(), 9);
    assert_eq!(names(&[("TSC_SORT", "calls")])[0], "short");
    for (sort, heading) in [("p99", " p99"), ("max", " max")] {
        let text = dump(&[("TSC_SORT", sort)]);
        let line = text.lines().find(|line| line.contains("total ticks"));
        assert!(line.expect("the heading").contains(heading), "{text}");
    }
    let three = names(&[("TSC_SORT", "name"), ("TSC_TOP", "3")]);
    assert_eq!(three, by_name[..3]);
    assert!(dump(&[("TSC_TOP", "3")]).contains("6 more rows; TSC_TOP=0 shows all"));
    assert_eq!(names(&[("TSC_TOP", "0")]).len(), 9);
}

const SWITCH: &str = "expected on (1, true, yes) or off (0, false, no)";

#[test]
fn wrong_values_are_named_in_a_line_with_the_right_ones() {
    for (name, right) in [
        ("TSC_REPORT", "expected text, full, histogram, json or off"),
        ("TSC_UNIT", "expected time, ticks or cycles"),
        (
            "TSC_SORT",
            "expected self, total, wall, blocked, calls, mean, p99, max or name",
        ),
        ("TSC_TOP", "expected a number of rows; 0 for all"),
        (
            "TSC_REPORT_EVERY",
            "expected a time of at least 10ms, such as 500ms, 10s, 5m or 1h",
        ),
        (
            "TSC_DUMP_SIGNAL",
            "expected USR1, USR2, HUP, QUIT, WINCH or the number of a signal that can be caught and means no fault",
        ),
        (
            "TSC_TICK",
            "expected a time of 20us to 1s, such as 200us or 1ms",
        ),
        ("TSC_SLOWEST", "expected a number of calls from 0 to 64"),
        ("TSC_SIGNALS", SWITCH),
        ("TSC_THREADS", SWITCH),
        ("TSC_TREE", SWITCH),
        ("TSC_ON_CPU", SWITCH),
    ] {
        let text = dump(&[(name, "ban\x1bana")]);
        let line = text.lines().next().expect("a line");
        assert!(
            line.starts_with(&format!(
                "tsc: {name}=ban\\u{{1b}}ana is invalid: {right}; "
            )),
            "{line}"
        );
        assert_eq!(text.matches("ana is invalid").count(), 1, "{text}");
        assert_eq!(rows(&text).count(), 9, "{name}");
    }
    for (name, value, line) in [
        (
            "TSC_META",
            "a=1,=b",
            "is invalid: expected key=value,…; the default is used: nothing.",
        ),
        (
            "TSC_REPORT_FILE",
            "/no/such/%q",
            "has an unknown placeholder: expected a path, in which %p is the process's number, %h the host, \
             %t the time of the start and %% a %; the default is used: the path as it is.",
        ),
    ] {
        let text = dump(&[(name, value)]);
        let line = format!("tsc: {name}={value} {line}");
        assert_eq!(text.matches(&line).count(), 1, "{text}");
    }
    // What is wrong with this one depends on the features of the build.
    let text = dump(&[("TSC_EVENTS", "ban\x1bana")]);
    let is_named = |line: &str| {
        line.starts_with("tsc: TSC_EVENTS=ban\\u{1b}ana ")
            && line.contains(": expected a list of events, comma-separated; ")
    };
    assert_eq!(
        text.lines().filter(|line| is_named(line)).count(),
        1,
        "{text}"
    );
}

#[test]
fn histogram_shows_two_speeds() {
    let text = dump(&[("TSC_REPORT", "histogram")]);
    let lines: Vec<&str> = text.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.contains("now fast, now slow"))
        .expect("the row");
    let bars = lines[at..]
        .iter()
        .find(|line| line.contains('█'))
        .expect("its bars");
    let bars = bars.trim_end().strip_prefix("        ").expect("indented");
    assert!(bars.chars().count() <= 60);
    // The histogram has two peaks with at least ten empty columns between them.
    assert!(bars.contains("          "), "{bars:?}");
    assert!(text.contains("F marks the first call"));
}

#[test]
fn full_form_has_every_name_place_and_doubt() {
    let text = dump(&[("TSC_REPORT", "full")]);
    assert!(
        text.contains("of which the dump shows fifty: one at tests/programs/naming/main.rs:"),
        "{text}"
    );
    assert!(text.contains("raw ") && text.contains(" - registration "));
}
