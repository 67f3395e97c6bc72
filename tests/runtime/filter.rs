//! `TSC_ONLY` and `TSC_SKIP`: they select what is measured, without another build.

use std::ffi::OsStr;

/// The output of the program with these variables.
fn dump<V: AsRef<OsStr>>(environment: &[(&str, V)]) -> String {
    let output = tests::program(env!("CARGO_BIN_EXE_dumping"))
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .output()
        .expect("the test's own program starts");
    assert!(output.status.success());
    String::from_utf8(output.stderr).expect("the dump is UTF-8")
}

/// The names of the rows, in alphabetical order.
fn rows(environment: &[(&str, &str)]) -> Vec<String> {
    let text = dump(&[environment, &[("TSC_SORT", "name")]].concat());
    let name = |line: &str| Some(line.strip_prefix(":CLK: ")?[..50].trim_end().to_owned());
    text.lines().filter_map(name).collect()
}

const ALL: [&str; 6] = [
    "a \"name\"\\ with\\nbreaks",
    "reads",
    "recursive",
    "sleeps",
    "suspended",
    "work",
];

#[test]
fn only_what_is_asked_for_is_measured() {
    assert_eq!(rows(&[]), ALL);
    assert_eq!(
        rows(&[("TSC_ONLY", "^dumping::(work|reads)$")]),
        ["reads", "work"]
    );
    assert_eq!(rows(&[("TSC_SKIP", "e")]), ["work"]);
    assert_eq!(
        rows(&[("TSC_ONLY", "^dumping::"), ("TSC_SKIP", "work|sus")]),
        ALL[..4]
    );
}

#[test]
fn what_is_left_out_is_listed() {
    let text = dump(&[("TSC_SKIP", "work|sleeps")]);
    assert!(
        text.contains("tsc: 2 functions not measured, because of TSC_ONLY or TSC_SKIP:"),
        "{text}"
    );
    assert!(
        text.contains("dumping::work") && text.contains("dumping::sleeps"),
        "{text}"
    );
    let json = dump(&[("TSC_SKIP", "work"), ("TSC_REPORT", "json")]);
    let report: serde_json::Value = serde_json::from_str(&json).expect("the text is a report");
    assert_eq!(report["left_out"], serde_json::json!(["dumping::work"]));
    let text = dump(&[("TSC_ONLY", "nothing is called so")]);
    assert!(text.starts_with("tsc: 6 functions not measured"), "{text}");
}

/// The parent has called the function before it forks.
#[cfg(unix)]
#[test]
fn childs_report_lists_what_was_left_out_before_the_fork() {
    let output = tests::program(env!("CARGO_BIN_EXE_reporting"))
        .arg("fork")
        .env("TSC_SKIP", "work")
        .output()
        .expect("the test's own program starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        text.matches("tsc: 1 function not measured").count(),
        2,
        "{text}"
    );
}

/// The time of a function that is left out counts as self time of its caller.
#[test]
fn counts_of_the_others_stay() {
    let calls = |environment: &[(&str, &str)], name: &str| {
        let json = dump(&[environment, &[("TSC_REPORT", "json")]].concat());
        let report = tsc_runtime::Report::from_json(&json).expect("the text is a report");
        let callsite = report.callsite(name).expect("the function was called");
        (
            callsite.calls(),
            callsite.running(),
            callsite.polls(),
            callsite.units(),
        )
    };
    for name in ["recursive", "suspended", "reads"] {
        assert_eq!(
            calls(&[("TSC_SKIP", "work")], name),
            calls(&[], name),
            "{name}"
        );
    }
}

#[test]
fn bad_expression_says_where_it_is_wrong() {
    let text = dump(&[("TSC_ONLY", "work|re(ads")]);
    let line = text.lines().next().expect("a line");
    assert!(
        line.starts_with("tsc: TSC_ONLY=work|re(ads is not a regular expression: "),
        "{line}"
    );
    assert!(line.contains("at byte 7, before \"(ads\""), "{line}");
    assert!(
        line.ends_with("; the default is used: all functions."),
        "{line}"
    );
    assert!(text.contains(":CLK: sleeps"));
}

#[test]
#[cfg(unix)]
fn expression_that_is_not_utf8_is_named_and_leaves_nothing_out() {
    use std::os::unix::ffi::OsStrExt as _;
    let text = dump(&[("TSC_ONLY", OsStr::from_bytes(b"wor\xff"))]);
    assert!(
        text.contains("TSC_ONLY=wor\u{fffd} is not UTF-8: "),
        "{text}"
    );
    assert!(!text.contains("not measured"), "{text}");
}
