//! What a program prints, where and when: the dump, JSON, `TSC_REPORT`, `TSC_REPORT_FILE`, the end of the process.

use std::process::Output;

/// Runs the program that ends in `way`, with some environment variables.
fn run(way: &str, environment: &[(&str, &str)]) -> Output {
    tests::program(env!("CARGO_BIN_EXE_reporting"))
        .arg(way)
        .envs(environment.iter().copied())
        .output()
        .expect("the test's own program starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the dump is UTF-8")
}

/// The name, total and first further columns of every GCLK line.
fn rows(text: &str) -> Vec<(String, f64, Vec<String>)> {
    text.lines()
        .filter_map(|line| line.strip_prefix(":CLK: "))
        .map(|line| {
            let line: Vec<char> = line.chars().collect();
            let part = |range: std::ops::Range<usize>| line[range].iter().collect::<String>();
            assert_eq!(part(50..52), " :", "the name takes 50 columns");
            let total = part(52..66)
                .trim()
                .parse()
                .expect("the total is a number in 14 columns");
            let rest: String = line[66..].iter().collect();
            (
                part(0..50).trim_end().to_owned(),
                total,
                rest.split_whitespace().map(str::to_owned).collect(),
            )
        })
        .collect()
}

/// The number of calls of `work` in each dump in `text`.
fn calls_of_work(text: &str) -> Vec<u64> {
    calls(text, "work")
}

/// The same for the function `name`.
fn calls(text: &str, name: &str) -> Vec<u64> {
    rows(text)
        .into_iter()
        .filter(|(row, ..)| row == name)
        .map(|(_, _, columns)| {
            let mut numbers = columns
                .iter()
                .filter_map(|it| it.replace(',', "").parse().ok());
            numbers.next().expect("calls is the only whole number")
        })
        .collect()
}

#[test]
fn process_that_has_not_reported_dumps_once_when_it_ends() {
    for (way, code) in [("return", 0), ("exit", 3), ("exit-in-thread", 3)] {
        let output = run(way, &[]);
        assert_eq!(output.status.code(), Some(code), "{way}");
        assert_eq!(calls_of_work(&stderr(&output)), [10], "{way}");
        assert!(output.stdout.is_empty(), "{way}");
    }
}

#[test]
fn report_has_the_exit_code() {
    for (way, code) in [("return", 0), ("exit", 3), ("exit-in-thread", 3)] {
        let text = stderr(&run(way, &[("TSC_REPORT", "json")]));
        let report: serde_json::Value = serde_json::from_str(&text).expect("the text is a report");
        let ended = &report["process"]["ended"];
        assert_eq!(ended["reason"], "exit", "{way}");
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            assert_eq!(ended["code"], code, "{way}");
        }
    }
}

#[test]
fn process_that_has_reported_does_not_dump_again() {
    assert_eq!(calls_of_work(&stderr(&run("report", &[]))), [10]);
    assert_eq!(calls_of_work(&stderr(&run("report-twice", &[]))), [10, 10]);
    assert_eq!(calls_of_work(&stderr(&run("report-inside", &[]))), [11]);
}

#[test]
fn calls_after_the_report_are_dumped() {
    assert_eq!(
        calls_of_work(&stderr(&run("report-then-more", &[]))),
        [10, 11]
    );
}

/// The parent has reported more calls than the child makes.
#[cfg(unix)]
#[test]
fn child_of_a_fork_reports_its_calls_after_its_parents_report() {
    let text = stderr(&run("report-then-fork", &[]));
    assert_eq!(calls_of_work(&text), [10, 1]);
}

#[test]
fn polls_of_a_future_that_never_completes_are_dumped() {
    let output = run("only-polls", &[("TSC_REPORT", "json")]);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stderr).expect("standard error is a report");
    let row = &report["callsites"][0];
    assert_eq!(
        (row["name"].as_str(), row["polls"].as_u64()),
        (Some("wait"), Some(1))
    );
    assert_eq!(row["cancelled"].as_u64(), Some(1));
}

/// The rows of `work`'s threads: name, threads and calls.
fn thread_rows(report: &serde_json::Value) -> Vec<(Option<&str>, u64, u64)> {
    let callsites = report["callsites"].as_array().expect("callsites");
    let work = callsites.iter().find(|callsite| callsite["name"] == "work");
    let work = work.expect("the function was called");
    let rows = work["thread_rows"].as_array().expect("rows");
    let number = |row: &serde_json::Value, key: &str| row[key].as_u64().expect("a count");
    let sum = |key: &str| -> f64 {
        rows.iter()
            .map(|row| row[key].as_f64().expect("ticks"))
            .sum()
    };
    let keys = ["total_ticks", "self_ticks", "self_on_cpu_ticks"];
    for key in keys.into_iter().filter(|key| !work[key].is_null()) {
        let off = sum(key) - work[key].as_f64().expect("ticks");
        assert!(
            rows.is_empty() || off.abs() <= rows.len() as f64,
            "{key} {off}"
        );
    }
    let mut rows: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row["name"].as_str(),
                number(row, "threads"),
                number(row, "calls"),
            )
        })
        .collect();
    rows.sort_unstable();
    rows
}

#[test]
fn rows_of_threads_are_for_those_who_ask() {
    let json = |way: &str, value| {
        let output = run(way, &[("TSC_THREADS", value), ("TSC_REPORT", "json")]);
        serde_json::from_str(&stderr(&output)).expect("the text is a report")
    };
    let main = (Some("main"), 1, 10);
    let others = [
        (None, 1, 2),
        (Some("other \x1b[2J"), 1, 5),
        (Some("worker"), 2, 50),
    ];
    let all = [others[0], main, others[1], others[2]];
    assert_eq!(thread_rows(&json("named-threads", "on")), all);
    assert_eq!(thread_rows(&json("named-threads", "off")), []);
    let text = stderr(&run("named-threads", &[("TSC_THREADS", "on")]));
    assert!(
        text.contains("thread worker × 2: 50 calls, self "),
        "{text}"
    );
    assert!(
        text.contains(r"thread other \u{1b}[2J: 5 calls")
            && text.contains("thread (no name): 2 calls"),
        "{text}"
    );
    // Calls that `take` has reported are in no later report.
    let output = run(
        "take-with-threads",
        &[("TSC_THREADS", "on"), ("TSC_REPORT", "json")],
    );
    let taken = serde_json::from_slice(&output.stdout).expect("the text is a report");
    assert_eq!(thread_rows(&taken), all);
    let rest = serde_json::from_str(&stderr(&output)).expect("the text is a report");
    assert_eq!(thread_rows(&rest), others);
}

#[test]
fn text_has_eight_names_of_threads_and_the_number_of_the_others() {
    let variables = [("TSC_THREADS", "on"), ("TSC_REPORT", "json")];
    let mut report: serde_json::Value =
        serde_json::from_str(&stderr(&run("return", &variables))).expect("the text is a report");
    let rows = report["callsites"][0]["thread_rows"]
        .as_array_mut()
        .expect("rows");
    let one = rows[0].clone();
    rows.clear();
    for number in 0..11 {
        let mut row = one.clone();
        row["name"] = format!("named {number}").into();
        // Self is without the time blocked, as in the row.
        (row["self_ticks"], row["self_on_cpu_ticks"]) = (1_000_000.into(), 0.into());
        rows.push(row);
    }
    let report = tsc_runtime::Report::from_json(&report.to_string()).expect("it is a report");
    let text = report.to_string();
    let names = text.matches("thread named ").count();
    assert!(
        names == 8 && text.contains("and 3 more thread names") && text.contains("self 0ns, "),
        "{text}"
    );
}

#[test]
fn sessions_report_what_happened_in_them() {
    let text = stderr(&run("sessions", &[]));
    // The last number is from the dump at exit, because the calls before the sessions were not yet reported.
    assert_eq!(calls_of_work(&text), [1, 1, 4, 4, 19], "{text}");
    assert_eq!(text.matches("no annotated function was called").count(), 1);
    // This session reports all calls, so there is no dump at exit.
    let text = stderr(&run("session-of-all", &[]));
    assert_eq!(calls_of_work(&text), [10]);
    // It began before the first annotated call.
    assert!(
        text.contains(": CPU ") && !text.contains(": CPU 0ns"),
        "{text}"
    );
    // Here it ends while a call runs, whose time is in the dump at exit.
    let text = stderr(&run("session-of-all-in-a-call", &[]));
    assert_eq!(calls_of_work(&text), [10, 10], "{text}");
}

#[test]
fn report_from_anywhere_is_fine() {
    let threads = calls_of_work(&stderr(&run("report-in-threads", &[])));
    assert_eq!(threads.len(), 8, "{threads:?}");
    assert!(
        threads.iter().all(|calls| (11..=18).contains(calls)),
        "{threads:?}"
    );
    for way in ["report-while-panicking", "abort-after-panic-in-hook"] {
        let output = run(way, &[]);
        assert_eq!(output.status.code(), Some(101), "{way}");
        assert!(!calls_of_work(&stderr(&output)).is_empty(), "{way}");
    }
    assert!(run("closed-stderr", &[]).status.success());
}

#[test]
fn process_without_calls_prints_nothing() {
    let output = run("nothing", &[]);
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn off_silences_every_report() {
    for way in ["return", "report"] {
        for off in ["off", "0", "false", "no"] {
            let output = run(way, &[("TSC_REPORT", off)]);
            assert!(output.stderr.is_empty(), "{way} {off}");
        }
    }
}

#[test]
fn every_variable_has_the_same_words_for_on_and_off() {
    for (word, is_on) in [
        ("1", true),
        ("on", true),
        ("true", true),
        ("yes", true),
        ("0", false),
        ("off", false),
        ("false", false),
        ("no", false),
    ] {
        let text = stderr(&run("named-threads", &[("TSC_THREADS", word)]));
        assert_eq!(text.contains("thread worker × 2"), is_on, "{word}: {text}");
        let text = stderr(&run(
            "return",
            &[("TSC_TREE", word), ("TSC_REPORT", "json")],
        ));
        let report: serde_json::Value = serde_json::from_str(&text).expect("the text is a report");
        let contexts = report["contexts"].as_array().map_or(0, Vec::len);
        assert_eq!(contexts != 0, is_on, "{word}: {text}");
        for name in ["TSC_ON_CPU", "TSC_SIGNALS"] {
            let text = stderr(&run("return", &[(name, word)]));
            assert!(!text.contains("is invalid"), "{name}={word}: {text}");
        }
    }
}

#[test]
fn unknown_form_is_named_and_the_dump_printed_all_the_same() {
    let text = stderr(&run("return", &[("TSC_REPORT", "banana")]));
    assert!(
        text.starts_with(
            "tsc: TSC_REPORT=banana is invalid: expected text, full, histogram, json or off; the default is used: text."
        ),
        "{text}"
    );
    assert_eq!(calls_of_work(&text), [10]);
}

#[test]
fn misspelt_variable_is_named_and_that_of_another_program_is_not() {
    let variables = [("TSC_REPROT", "full"), ("TSC_WATCHFILE", "1")];
    let text = stderr(&run("return", &variables));
    let mut lines = text.lines();
    let first = "tsc: TSC_REPROT has no effect: is TSC_REPORT meant?";
    assert_eq!(lines.next(), Some(first));
    assert!(!text.contains("WATCHFILE"), "{text}");
    assert_eq!(calls_of_work(&text), [10]);
}

#[test]
fn full_form_lists_every_correction() {
    let text = stderr(&run("return", &[("TSC_REPORT", "full")]));
    let columns = &rows(&text)[0].2;
    assert!(columns.contains(&"10".to_owned()), "{columns:?}");
    let line = text
        .lines()
        .find(|line| line.contains("raw "))
        .expect("a line of corrections");
    let number = |word: &str| -> f64 {
        let rest = line.split(&format!("{word} ")).nth(1).expect("the word");
        rest.split([' ', ';'])
            .next()
            .and_then(|number| number.parse().ok())
            .expect("a number")
    };
    let redone = number("raw") - number("visible") - number("nested") - number("registration");
    assert!((redone - number("wall")).abs() <= 2.0, "{line}");
}

#[test]
fn json_is_the_same_figures() {
    let text = stderr(&run("return", &[("TSC_REPORT", "json")]));
    let report: serde_json::Value =
        serde_json::from_str(&text).expect("all of stderr is one JSON value");
    assert_eq!(report["schema"], 4);
    for key in [
        "hz",
        "ppm",
        "resolution_ticks",
        "invariant",
        "source",
        "hypervisor",
        "cpu",
    ] {
        assert!(report["clock"].get(key).is_some(), "clock.{key}");
    }
    let work = &report["callsites"][0];
    assert_eq!(
        (&work["name"], &work["calls"]),
        (&"work".into(), &10.into())
    );
    let keys = "name module file line fence calls clean interrupted anomalies total_ticks wall_ticks self_ticks raw_ticks overhead_ticks \
                mean_ticks std_error_ticks stddev_ticks min_ticks p50_ticks p90_ticks p99_ticks p999_ticks max_ticks first_ticks \
                threads min_raw_ticks mean_raw_ticks";
    for key in keys.split_whitespace() {
        assert!(work.get(key).is_some(), "{key}");
    }
    let figure = |key: &str| work[key].as_f64().expect("a number");
    let redone = figure("raw_ticks")
        - figure("visible_overhead_ticks")
        - figure("nested_overhead_ticks")
        - figure("registration_overhead_ticks");
    assert!(
        (figure("wall_ticks") - redone).abs() < 1e-3 * figure("raw_ticks"),
        "{work}"
    );
}

#[test]
fn unwritable_file_is_named_and_the_dump_printed_all_the_same() {
    let text = stderr(&run("return", &[("TSC_REPORT_FILE", "/nonexistent/dump")]));
    assert!(
        text.starts_with("tsc: cannot write TSC_REPORT_FILE=/nonexistent/dump: "),
        "{text}"
    );
    assert_eq!(calls_of_work(&text), [10]);
}

#[cfg(unix)]
#[test]
fn child_of_a_fork_starts_from_zero() {
    let mut calls = calls_of_work(&stderr(&run("fork", &[])));
    calls.sort_unstable();
    assert_eq!(calls, [1, 10]);
}

#[test]
fn dump_says_what_its_clock_is_worth() {
    let text = stderr(&run("return", &[]));
    for word in [
        "MHz",
        "lfence probe",
        "subtracted",
        "self%",
        "calls",
        "mean",
    ] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
    let (_, total, columns) = rows(&text).remove(0);
    assert!(total > 0.0 && columns.len() >= 3, "{columns:?}");
    let full = stderr(&run("return", &[("TSC_REPORT", "full")]));
    for word in ["step", "clocksource", "clean", "first", "p99"] {
        assert!(full.contains(word), "{word} in\n{full}");
    }
    // Core cycles are always given with their range and the method by which they were estimated.
    if let Some(line) = full.lines().find(|line| line.contains("core cycles")) {
        for part in ["≈", " GHz (range ", "..", ", by "] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
