//! The dump as data: tests that the dumps of programs are as `docs/dump.md` describes them.

use std::collections::BTreeSet;

use serde_json::Value;
use tsc_runtime::{ReadError, Report, cycles, snapshot};

#[path = "../generated.rs"]
mod generated;
#[path = "dump/schema.rs"]
mod schema;
#[path = "dump/schema_page.rs"]
mod schema_page;

/// The output of the program `dumping` with `TSC_REPORT=json`, which has functions of every kind.
fn dump() -> String {
    dump_with(&["one", "two words"])
}

/// That of the same program with light probes.
fn light_dump() -> String {
    dump_with(&["light"])
}

fn dump_with(args: &[&str]) -> String {
    let output = tests::program(env!("CARGO_BIN_EXE_dumping"))
        .args(args)
        .env("TSC_REPORT", "json")
        .env("TSC_META", "commit=abc,input=small")
        .output()
        .expect("the test's own program starts");
    assert!(output.status.success());
    String::from_utf8(output.stderr).expect("JSON is UTF-8")
}

fn schema() -> Value {
    serde_json::from_str(Report::JSON_SCHEMA).expect("the schema is JSON")
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("the dump is one JSON value")
}

#[test]
fn dump_is_valid_by_the_schema() {
    let validator = jsonschema::draft202012::new(&schema()).expect("the schema is one");
    let dump = value(&dump());
    for dump in [&dump, &value(&light_dump())] {
        let errors: Vec<String> = validator
            .iter_errors(dump)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    // The schema also rejects wrong values.
    for (pointer, wrong) in [
        ("/schema", Value::from(1)),
        ("/callsites/0/calls", Value::from(-1)),
        ("/callsites/0/sums/squares", Value::from(7)),
        ("/clock/hz", Value::from("fast")),
        ("/callsites/0/histogram", Value::Null),
    ] {
        let mut broken = dump.clone();
        *broken.pointer_mut(pointer).expect("the key is there") = wrong;
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
}

/// The keys of every object that the schema describes, as `Name.key`.
fn described(schema: &Value) -> BTreeSet<String> {
    let keys = |name: &str, object: &Value| -> Vec<String> {
        let properties = object["properties"].as_object().expect("an object's keys");
        properties
            .keys()
            .map(|key| format!("{name}.{key}"))
            .collect()
    };
    let definitions = schema["$defs"].as_object().expect("definitions");
    let nested = definitions
        .iter()
        .flat_map(|(name, object)| keys(name, object));
    keys("Report", schema).into_iter().chain(nested).collect()
}

#[test]
fn schema_and_dump_have_the_same_keys() {
    let schema = schema();
    let report = value(&dump());
    let mut written = BTreeSet::new();
    let mut add = |name: &str, object: &Value| {
        let object = object
            .as_object()
            .unwrap_or_else(|| panic!("{name} is an object"));
        written.extend(object.keys().map(|key| format!("{name}.{key}")));
    };
    add("Report", &report);
    add("Process", &report["process"]);
    add("MachineReport", &report["machine"]);
    add("Clock", &report["clock"]);
    add("FenceOverhead", &report["clock"]["overheads"][0]);
    add("TickClock", &value(&light_dump())["tick_clock"]);
    add("CallsiteReport", &report["callsites"][0]);
    add("CallsiteSums", &report["callsites"][0]["sums"]);
    add("FirstCall", &report["callsites"][0]["sums"]["first"]);
    let callsites = report["callsites"].as_array().expect("callsites");
    let bucket = callsites
        .iter()
        .find_map(|callsite| callsite["histogram"].get(0));
    add("Bucket", bucket.expect("not all calls were interrupted"));
    let slow = callsites
        .iter()
        .find_map(|callsite| callsite["slowest"].get(0));
    add("SlowCall", slow.expect("a first call is no short one"));
    let mut described = described(&schema);
    described.retain(|key| {
        ["Ended.", "Context.", "EventCount.", "ThreadReport."]
            .iter()
            .all(|absent| !key.starts_with(absent))
    });
    assert_eq!(written, described);
}

#[test]
fn schema_is_that_of_the_data() {
    let text = serde_json::to_string_pretty(&schema::of_the_data()).expect("it is plain data");
    generated::check_file("dump.schema.json", "cargo test -p tests --test dump", &text);
}

#[test]
fn page_of_keys_is_the_schema() {
    let page = schema_page::page(&schema::of_the_data());
    for key in described(&schema::of_the_data()) {
        let (_, key) = key.split_once('.').expect("a name and a key");
        assert!(page.contains(&format!("| `{key}` |")), "{key}");
    }
    generated::check_part("json_keys.md", "cargo test -p tests --test dump", &page);
}

#[test]
fn dump_read_back_is_equal() {
    let text = dump();
    let report = Report::from_json(&text).expect("the text is a report");
    assert_eq!(report.to_json(), text.trim_end());
    assert_eq!(Report::from_json(&report.to_json()).expect("again"), report);
    assert_eq!(report.process().argv()[1..], ["one", "two words"]);
    assert_eq!(report.meta()["commit"], "abc");
    assert!(!report.process().host().is_empty() && report.process().pid() != 0);
    assert!(report.process().started().starts_with("20") && report.process().started().len() == 30);
}

#[test]
fn snapshot_read_back_is_equal() {
    #[cycles]
    fn timed() {
        light();
    }
    #[cycles(light)]
    fn light() {}
    timed();
    let report = snapshot();
    assert_eq!(
        Report::from_json(&report.to_json()).expect("the text is a report"),
        report
    );
}

#[test]
fn text_that_is_no_report_is_refused() {
    let text = dump();
    let error = |text: &str| {
        Report::from_json(text)
            .expect_err("the text is not a report")
            .to_string()
    };
    assert!(error("").contains("EOF"), "{}", error(""));
    assert!(error("{}").contains("schema"));
    let cut = text.trim_end().strip_suffix('}').expect("it is an object");
    assert!(error(cut).contains("EOF"));
    let of_schema = |schema: &str| {
        error(&text.replacen(r#""schema":"#, &format!(r#""schema":{schema},"was":"#), 1))
    };
    for (schema, advice) in [("1", "measure again"), ("99", "a later version")] {
        let error = of_schema(schema);
        assert!(
            error.contains(&format!("schema {schema},")) && error.contains(advice),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let mut broken = value(&text);
    broken["contexts"] = serde_json::json!([
        { "callsite": 99, "parent": null, "calls": 1, "total_ticks": 1, "on_cpu_ticks": null, "self_ticks": 1, "probe_ticks": 0 }
    ]);
    assert!(error(&broken.to_string()).contains("callsite 99"));
}

/// A dump from before the schema of this version.
#[test]
fn dump_of_an_older_schema_is_refused() {
    let old = include_str!("dump/schema_2.json");
    let error = Report::from_json(old).expect_err("its figures mean something else");
    assert!(matches!(error, ReadError::Schema(2)), "{error:?}");
    let line = error.to_string();
    assert!(
        line.contains("measure again") && line.lines().count() == 1,
        "{line}"
    );
}

#[test]
fn report_that_no_runtime_writes_is_refused() {
    let text = dump();
    let error = |change: &dyn Fn(&mut Value)| {
        let mut changed = value(&text);
        change(&mut changed);
        Report::from_json(&changed.to_string())
            .expect_err("the report contradicts itself")
            .to_string()
    };
    let bucket = error(&|of| {
        of["callsites"][0]["wall_histogram"] =
            serde_json::json!([{ "from_ticks": u64::MAX, "calls": 1 }]);
    });
    assert!(
        bucket.contains("no bucket begins at 18446744073709551615"),
        "{bucket}"
    );
    let rate = error(&|of| of["clock"]["hz"] = 1e-300.into());
    assert!(rate.contains("ticks per second"), "{rate}");
    let probe = error(&|of| of["clock"]["overheads"][0]["total_ticks"] = (-1e300).into());
    assert!(probe.contains("no probe costs"), "{probe}");
    let tree = error(&|of| {
        let context = |index: usize| {
            serde_json::json!({ "callsite": 0, "parent": index.checked_sub(1), "calls": 1, "clean": 1, "total_ticks": 1,
                "on_cpu_ticks": null, "self_ticks": 1, "probe_ticks": 0 })
        };
        of["contexts"] = (0..20_000).map(context).collect();
    });
    assert!(tree.contains("through more than 16384 others"), "{tree}");
}

/// A file may have been changed by hand. Its figures may then be absurd, but reading and printing it must not panic.
#[test]
fn counts_that_are_too_many_are_no_reason_to_panic() {
    let mut changed = value(&dump());
    let most = serde_json::json!(u64::MAX);
    let row = &mut changed["callsites"][0];
    for count in [
        "samples",
        "firsts",
        "excluded",
        "anomalies",
        "repaired",
        "unknown",
    ] {
        row["sums"][count] = most.clone();
    }
    for count in ["calls", "samples", "interrupted"] {
        row[count] = most.clone();
    }
    row["histogram"] = serde_json::json!([{ "from_ticks": 64, "calls": u64::MAX }]);
    row["interrupted_histogram"] = serde_json::json!([
        { "from_ticks": 64, "calls": u64::MAX }, { "from_ticks": 66, "calls": u64::MAX }
    ]);
    row["thread_rows"] = serde_json::json!([
        { "name": null, "threads": u64::MAX, "calls": u64::MAX, "total_ticks": 1, "self_ticks": 1, "on_cpu_ticks": null }
    ]);
    row["events"] =
        serde_json::json!([{ "event": "page-faults", "calls": u64::MAX, "count": i64::MIN }]);
    let report = Report::from_json(&changed.to_string()).expect("the text is a report");
    let mut sum = report.clone();
    sum.merge(&report)
        .expect("both reports are of the same clock");
    for of in [&report, &sum] {
        assert!(of.to_string().contains(":CLK: "));
        assert!(format!("{of:#}").contains(":CLK: "));
        assert!(of.to_openmetrics().ends_with("# EOF\n"));
        assert!(
            sum.since(of)
                .is_none_or(|since| since.to_string().starts_with("tsc: "))
        );
    }
}

#[test]
fn metrics_have_count_and_sum_of_a_histogram_or_neither() {
    let mut changed = value(&dump());
    changed["callsites"][0]["sums"]["sum"] = (-3).into();
    changed["callsites"][1]["probe"] = "light".into();
    let report = Report::from_json(&changed.to_string()).expect("the text is a report");
    let of = |text: &str, figure: &str| {
        let prefix = format!("tsc_{figure}{{");
        text.lines()
            .filter(|line| line.starts_with(&prefix))
            .count()
    };
    let all = report.callsites().len();
    let (new, old) = (report.to_openmetrics(), report.to_prometheus());
    assert_eq!(of(&new, "calls_total"), all);
    for text in [&new, &old] {
        assert_eq!(of(text, "visible_overhead_ticks"), all - 1, "{text}");
        assert_eq!(of(text, "call_gross_ticks_sum"), all - 2, "{text}");
    }
    assert_eq!(of(&new, "call_gross_ticks_count"), all - 2, "{new}");
    // The older format requires the count.
    assert_eq!(of(&old, "call_gross_ticks_count"), all - 1, "{old}");
}

#[test]
fn unknown_keys_are_left_out_and_unknown_facts_may_be_missing() {
    let text = dump();
    let mut changed = value(&text);
    changed["added_later"] = Value::from(1);
    changed["callsites"][0]["added_later"] = Value::Null;
    changed["machine"] = serde_json::json!({});
    let report = Report::from_json(&changed.to_string()).expect("the text is a report");
    assert_eq!(report.machine().cpu(), None);
    assert_eq!(
        report.callsites().len(),
        Report::from_json(&text).expect("one").callsites().len()
    );
}

/// Checks a figure of a row, but for what rounding has changed.
fn check_same(row: &Value, key: &str, expected: f64) {
    let got = row[key].as_f64().expect("a number");
    let most = 1e-9 * expected.abs().max(1e6);
    assert!((got - expected).abs() <= most, "{key}: {got}, {expected}");
}

/// Every figure of `docs/dump.md`'s table, computed from the sums as it says.
#[test]
fn figures_follow_from_the_sums() {
    let report = value(&dump());
    for callsite in report["callsites"].as_array().expect("callsites") {
        let sum = |key: &str| callsite["sums"][key].as_f64().expect("a number");
        let squares: f64 = callsite["sums"]["squares"]
            .as_str()
            .and_then(|digits| digits.parse().ok())
            .expect("digits");
        let same = |key: &str, expected| check_same(callsite, key, expected);
        let futures = sum("polls") != 0.0;
        let gross = if futures {
            sum("polls_gross")
        } else {
            sum("sum") + sum("first_sum") + sum("excluded_sum") - sum("calls_blocked")
        };
        let visible = sum("visible_milliticks") / 1000.0;
        let inner_visible = sum("inner_visible_milliticks") / 1000.0;
        let calls =
            sum("samples") + sum("firsts") + sum("excluded") + sum("anomalies") + sum("counted");
        let probes = if futures {
            sum("polls")
        } else {
            calls - sum("anomalies")
        };
        same("calls", calls);
        let wall = gross - sum("inner_gross") - (visible - inner_visible) + sum("off");
        same("wall_ticks", wall);
        same("total_ticks", wall - sum("waiting"));
        same(
            "self_ticks",
            gross - sum("callees") - visible + sum("own_off") - sum("own_waiting"),
        );
        if sum("unasked") + sum("unknown") == 0.0
            && !report["clock"]["no_interruptions_because"].is_string()
        {
            let on_cpu = gross - sum("inner_gross") - (visible - inner_visible);
            same("on_cpu_ticks", on_cpu);
            same("self_on_cpu_ticks", gross - sum("callees") - visible);
            if sum("unsplit") == 0.0 {
                same("blocked_ticks", sum("off") - sum("waiting"));
                same("waiting_ticks", sum("waiting"));
            }
            same("clean", sum("samples") - sum("repaired"));
        }
        same(
            "raw_ticks",
            gross - sum("inner_gross") + sum("nested") - sum("inner_nested") + sum("off"),
        );
        let n = sum("samples");
        let measured = n + sum("firsts") + sum("excluded");
        if measured > 0.0 {
            let mean = (sum("sum") + sum("first_sum") + sum("excluded_sum")) / measured;
            same("mean_ticks", mean - visible / probes);
        }
        if n > 1.0 && sum("excluded") <= n {
            let variance = (n * squares - sum("sum").powi(2)) / (n * (n - 1.0));
            let stddev = callsite["stddev_ticks"].as_f64().expect("a number");
            // If all samples are equal, both are 0.
            assert!(
                (stddev.powi(2) - variance).abs() <= 1e-3 * variance + f64::MIN_POSITIVE,
                "{stddev}, {variance}"
            );
        }
        let counted = |key: &str| -> u64 {
            let buckets = callsite[key].as_array().expect("buckets");
            buckets
                .iter()
                .map(|bucket| bucket["calls"].as_u64().expect("a count"))
                .sum()
        };
        assert_eq!(counted("histogram"), n as u64);
        assert_eq!(counted("interrupted_histogram"), sum("excluded") as u64);
    }
}

/// What the contexts of a callsite say was subtracted for light probes: from its self ticks, and from its total.
fn subtracted(report: &Value, callsite: u64) -> (f64, f64) {
    let contexts = report["contexts"].as_array().expect("contexts");
    let is_its = |of: &Value| of["callsite"] == callsite;
    let parent = |of: &Value| Some(&contexts[of["parent"].as_u64()? as usize]);
    let (mut own, mut total) = (0.0, 0.0);
    for context in contexts {
        let ticks = context["probe_ticks"].as_f64().expect("a number");
        if is_its(context) {
            own += ticks;
        }
        if std::iter::successors(Some(context), |of| parent(of)).any(is_its) {
            total += ticks;
        }
    }
    (own, total)
}

/// The same for the table of figures by ticks of the clock.
#[test]
fn figures_by_ticks_follow_from_the_sums() {
    let report = value(&light_dump());
    let callsites = report["callsites"].as_array().expect("callsites");
    let sum = |of: &Value, key: &str| of["sums"][key].as_f64().expect("a number");
    let is_light = |of: &Value| of["probe"] == "light";
    let is_by_ticks = |of: &&Value| {
        let ticked = ["clock_ticks", "ticked"];
        is_light(of) || ticked.iter().any(|key| sum(of, key) != 0.0)
    };
    let sum_of_all = |key| -> f64 {
        let ticked = callsites.iter().filter(is_by_ticks);
        ticked.map(|of| sum(of, key)).sum()
    };
    let one_more = sum_of_all("ticked_squares") / sum_of_all("clock_ticks").max(1.0);
    assert!(callsites.iter().filter(|of| is_light(of)).count() == 2);
    for (index, of) in (0..).zip(callsites).filter(|(_, of)| is_by_ticks(of)) {
        let sum = |key| sum(of, key);
        let same = |key: &str, expected| check_same(of, key, expected);
        let (subtracted_own, subtracted) = subtracted(&report, index);
        same("on_cpu_ticks", sum("ticked") - subtracted);
        same("self_on_cpu_ticks", sum("ticked_own") - subtracted_own);
        same("blocked_ticks", sum("ticked_off") - sum("ticked_waiting"));
        same("waiting_ticks", sum("ticked_waiting"));
        let wall = sum("ticked") + sum("ticked_off") - subtracted;
        let own = sum("ticked_own") + sum("ticked_own_off") - subtracted_own;
        same("wall_ticks", wall);
        same("total_ticks", wall - sum("ticked_waiting"));
        same("self_ticks", own - sum("ticked_own_waiting"));
        if sum_of_all("clock_ticks") != 0.0 {
            let outside = report["tick_clock"]["outside_ticks"].as_f64();
            let outside = outside.expect("a number").max(0.0);
            let share = sum("ticked_own") / (sum_of_all("ticked_own") + outside).max(1.0);
            let variance = (sum("ticked_squares") + one_more) * (1.0 - share);
            same("self_std_error_ticks", 1.25 * 1024.0 * variance.sqrt());
        }
        if is_light(of) {
            same("calls", sum("counted"));
            same("probe_ticks", 1.75 * sum("light_probe_milliticks") / 1000.0);
            same(
                "mean_ticks",
                (wall - sum("ticked_waiting")) / sum("counted"),
            );
            same("visible_overhead_ticks", subtracted_own);
            same("overhead_ticks", subtracted);
            assert_eq!(of["fence"], "");
        }
    }
}

#[test]
fn two_processes_add_up() {
    let (one, other) = (dump(), dump());
    let (one, other) = (
        Report::from_json(&one).expect("one"),
        Report::from_json(&other).expect("two"),
    );
    let mut both = one.clone();
    both.merge(&other)
        .expect("both reports are of the same counter");
    assert_eq!(both.processes(), 2);
    assert_eq!(both.callsites().len(), one.callsites().len());
    for callsite in both.callsites() {
        let part = |report: &Report| {
            let part = report
                .callsite(callsite.name())
                .expect("the function was called");
            (
                part.calls(),
                part.total_ticks(),
                part.sums().sum(),
                part.sums().squares().get(),
            )
        };
        let ((calls, ticks, sum, squares), more) = (part(&one), part(&other));
        assert_eq!(callsite.calls(), calls + more.0);
        assert!((callsite.total_ticks() - ticks - more.1).abs() < 1e-3);
        assert_eq!(callsite.sums().sum(), sum + more.2);
        assert_eq!(callsite.sums().squares().get(), squares + more.3);
    }
    let mut other_way = other.clone();
    other_way
        .merge(&one)
        .expect("both reports are of the same counter");
    assert_eq!(both.to_json(), other_way.to_json());
}

/// A later snapshot does not change the figures of calls that an earlier one reported.
#[test]
fn difference_of_two_snapshots_is_what_happened_between_them() {
    #[cycles]
    fn counted() -> u64 {
        std::hint::black_box(7)
    }
    let of = |report: &Report| {
        let row =
            report.callsite("difference_of_two_snapshots_is_what_happened_between_them::counted");
        let row = row.expect("the function was called");
        (
            row.calls(),
            row.total_ticks(),
            row.self_ticks(),
            row.visible_overhead_ticks(),
        )
    };
    for _ in 0..100_000 {
        counted();
    }
    let first = of(&snapshot());
    for _ in 0..5 {
        assert_eq!(of(&snapshot()), first);
    }
    counted();
    let next = of(&snapshot());
    assert_eq!(next.0, first.0 + 1);
    // Only the new call's overhead was added. The overhead of the 100 000 earlier calls was not computed again.
    let added = next.3 - first.3;
    let usual = first.3 / first.0 as f64;
    assert!(
        added >= 0.0 && added < usual * 100.0 + 1000.0,
        "{added}, {usual} a call"
    );
}
