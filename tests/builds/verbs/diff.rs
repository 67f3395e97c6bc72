//! `cargo tsc diff` and `gate`, on sessions whose figures are computed from a real one. So the tests check the verdicts and do not depend on
//! the machine.

use serde_json::Value;

use crate::project::{PROGRAM, Project};

/// A project with sessions of ten runs: `base`, `same` and `slow`, in which `work` takes 5 % more. Each run is off by up to 0.4 %.
fn sessions() -> Project {
    let project = Project::new(PROGRAM);
    project.tsc("run --tree --name one -- --release").ends(0);
    let mut report = project.json(&project.report_of("one/001"));
    report["clock"]["distrusted"] = false.into();
    report["clock"]["core_cycles_per_tick"] = 1.5.into();
    for (name, change, seed) in [("base", 1.0, 1), ("same", 1.0, 2), ("slow", 1.05, 3)] {
        for run in 0..10 {
            let noise = f64::from((run * 7 + seed * 3) % 10 * 2 + seed) * 0.0004 - 0.004;
            let mut report = report.clone();
            for row in report["callsites"].as_array_mut().unwrap() {
                let slower = if row["name"] == "work" { change } else { 1.0 };
                set_self(row, 1e6 * slower * (1.0 + noise));
            }
            project.write(&format!("{name}/{run}.json"), &report.to_string());
        }
    }
    project
}

fn set_self(row: &mut Value, ticks: f64) {
    for key in ["self_ticks", "self_on_cpu_ticks"] {
        row[key] = ticks.into();
    }
}

fn verdict(json: &Value, name: &str) -> String {
    let rows = json["comparison"]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap()["verdict"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_change_is_found_and_named_and_nothing_else_is() {
    let project = sessions();
    let json = project.tsc("diff base slow --json").ends(0).json();
    assert_eq!(verdict(&json, "app::inner::work"), "slower");
    // The program as a whole takes 2.5 % more. Without turns, that may be the machine.
    assert_eq!(verdict(&json, "app::outer"), "not-resolved");
    let json = project.tsc("diff slow base --json").ends(0).json();
    assert_eq!(verdict(&json, "app::inner::work"), "faster");
    let json = project.tsc("diff base same --json").ends(0).json();
    assert_eq!(verdict(&json, "app::inner::work"), "no-change");
    project
        .tsc("diff base slow --threshold 10%")
        .ends(0)
        .says("2 without change")
        .remarks("the same code differs by up to")
        .remarks("not measured in turns: the machine itself may have changed by 2.");
    project
        .tsc("diff base slow --markdown")
        .ends(0)
        .says("### base → slow: 1 slower")
        .says("| app::inner::work |");
}

#[test]
fn a_gate_is_a_diff_as_an_exit_status() {
    let project = sessions();
    project
        .tsc("gate --baseline base slow")
        .ends(1)
        .says("gate: slower: app::inner::work");
    for side in ["base", "slow"] {
        copy(&project, side, &format!("generic-{side}"), |_, row| {
            row["name"] = "<Vec<T> as Work>::work".into();
        });
    }
    project
        .tsc("gate generic-base generic-slow --markdown")
        .ends(1)
        .says("| app::inner::&#60;Vec&#60;T> as Work>::work |")
        .says("gate: slower: app::inner::&#60;Vec&#60;T> as Work>::work\n");
    let json = project.tsc("gate base slow --json -q").ends(1).json();
    assert_eq!(json["gate"], "slower: app::inner::work");
    assert_eq!(json["objections"], serde_json::json!([]));
    project
        .tsc("gate --baseline base same --fail-unresolved")
        .ends(0)
        .says("gate: nothing slower by 1.0 %\n");
    project.write(
        "two.toml",
        "[gate.functions]\n\"app::inner::work\" = \"50%\"\n",
    );
    project
        .tsc("gate --baseline base slow --policy two.toml")
        .ends(0)
        .says("gate: nothing slower by the thresholds, 1.0 % to 50.0 %");
    project.tsc("gate --baseline slow base").ends(0);
    project.tsc("gate base slow").ends(1);
    let nothing = "gate: nothing is judged: no function on both sides takes as much time";
    for option in ["", " --fail-unresolved"] {
        let gate = format!("gate base slow --min-share 99%{option}");
        project.tsc(&gate).ends(3).says(nothing);
    }
    project.refuses("gate --baseline base slow same", "the session before once");
    project.write(
        "tsc.toml",
        "[gate.functions]\n\"app::inner::work\" = \"8%\"\n",
    );
    let ended = project.tsc("gate --baseline base slow").ends(0);
    assert!(!ended.err.contains("gate.functions"), "{}", ended.err);
    let old = "[gate.functions]\n\"app::inner::works\" = \"8%\"\n";
    project.write("old.toml", old);
    project
        .tsc("gate --baseline base slow --policy old.toml")
        .ends(1)
        .remarks("app::inner::works is none of the functions; the nearest is app::inner::work\n");
    let strict = "[gate]\nthreshold = \"0.1%\"\nignore = [\"::work$\"]\n";
    project.write("other.toml", strict);
    project
        .tsc("gate --baseline base slow --policy other.toml")
        .ends(0)
        .says(" % in app::outer could not have been seen");
    project
        .tsc("gate --baseline base slow --policy other.toml --fail-unresolved")
        .ends(3)
        .says("gate: not resolved: app::outer");
    project.write("wrong.toml", "[gate]\nlimit = 3\n");
    project.refuses("gate --baseline base slow --policy wrong.toml", "limit");
}

#[test]
fn a_session_is_not_compared_with_itself_by_mistake() {
    let project = sessions();
    for words in ["diff one", "gate one", "gate --baseline target/tsc/one"] {
        project.refuses(words, "is the newest session itself");
    }
    for words in [
        "gate one one",
        "gate one target/tsc/one",
        "gate base ./same/../base",
    ] {
        project
            .tsc(words)
            .ends(3)
            .says("gate: a session is always as fast as itself");
    }
    project.tsc("gate one one --lenient").ends(0);
    project.tsc("gate one one --metric calls").ends(0);
    project.tsc("diff one one").ends(0);
}

/// The session `from` under another name, with each report changed.
fn copy_reports(project: &Project, from: &str, to: &str, change: impl Fn(u32, &mut Value)) {
    for run in 0..10 {
        let mut report = project.json(&format!("{from}/{run}.json"));
        change(run, &mut report);
        project.write(&format!("{to}/{run}.json"), &report.to_string());
    }
}

/// The session `from` under another name, with the row `work` changed.
fn copy(project: &Project, from: &str, to: &str, change: impl Fn(u32, &mut Value)) {
    copy_reports(project, from, to, |run, report| change(run, work(report)));
}

fn work(report: &mut Value) -> &mut Value {
    let mut rows = report["callsites"].as_array_mut().unwrap().iter_mut();
    rows.find(|row| row["name"] == "work").unwrap()
}

#[test]
fn each_metric_finds_the_change_of_its_own_figure() {
    let project = sessions();
    let figures = [
        ("total", "total_ticks", 2.0),
        ("mean", "mean_ticks", 2.0),
        ("p50", "p50_ticks", 2.0),
        ("p99", "p99_ticks", 2.0),
        // The same time in half as many calls.
        ("self-per-call", "calls", 0.5),
    ];
    for (of, key, factor) in figures {
        copy(&project, "base", of, |_, row| {
            let figure = row[key].as_f64().unwrap() * factor;
            row[key] = match row[key].is_u64() {
                true => (figure as u64).into(),
                false => figure.into(),
            };
        });
        for (metric, ..) in figures.into_iter().chain([("self", "", 0.0)]) {
            let json = project.tsc(&format!("diff base {of} --metric {metric} --json"));
            let is_slower = verdict(&json.ends(0).json(), "app::inner::work") == "slower";
            assert_eq!(is_slower, metric == of, "--metric {metric}, {key} changed");
        }
    }
}

#[test]
fn figures_agree_with_the_change_and_say_how_they_are_meant() {
    let project = sessions();
    let json = project.tsc("diff base slow --json").ends(0).json();
    let rows = json["comparison"]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "app::inner::work");
    let [before, after, ratio] =
        ["before", "after", "ratio"].map(|key| row.unwrap()[key].as_f64().unwrap());
    assert!((after / before / ratio - 1.0).abs() < 1e-9, "{json}");
    project
        .tsc("diff base slow")
        .ends(0)
        .says("ticks  would find")
        .remarks("not resolved: these runs cannot tell");
    let three_slow_runs = |run: u32, row: &mut Value| {
        if run % 3 == 1 {
            set_self(row, 4e6 + 1e3 * f64::from(run));
        }
    };
    copy(&project, "base", "two", three_slow_runs);
    project
        .tsc("diff base two")
        .ends(0)
        .remarks("two modes after: 1.00M in 7 runs, 4.00M in 3: app::inner::work");
}

#[test]
fn a_function_of_microseconds_is_not_judged_without_turns() {
    let project = sessions();
    let short = |ticks: f64| move |_: u32, row: &mut Value| set_self(row, ticks);
    let second = project.json("base/0.json")["clock"]["hz"].as_f64().unwrap();
    copy(&project, "base", "short", short(2e-5 * second));
    copy(&project, "base", "longer", short(4e-5 * second));
    let verdict = |words: &str| {
        let json = project.tsc(words).ends(0).json();
        verdict(&json, "app::inner::work")
    };
    assert_eq!(verdict("diff short longer --json"), "too-small");
    copy(&project, "base", "long", short(2e-2 * second));
    assert_eq!(verdict("diff short long --json"), "slower");
}

#[test]
fn what_is_not_known_of_single_calls_is_not_small() {
    let project = sessions();
    for name in ["base", "same"] {
        // As of a light function. The other one is known.
        let change = |_: u32, row: &mut Value| {
            row["p99_ticks"] = Value::Null;
            row["probe"] = "light".into();
        };
        copy(&project, name, &format!("light-{name}"), change);
    }
    let ended = project.tsc("diff light-base light-same --metric p99 --json");
    let json = ended.ends(0).json();
    assert_eq!(verdict(&json, "app::inner::work"), "not-timed");
    let rows = json["comparison"]["rows"].as_array().unwrap();
    let work = rows.iter().find(|row| row["name"] == "app::inner::work");
    assert!(work.unwrap()["before"].is_null(), "{json}");
    project
        .tsc("diff light-base light-same --metric p99")
        .ends(0)
        .remarks("their single calls are not timed, as with light probes");
    project.write("tsc.toml", "[gate]\nignore = [\"outer\"]\n");
    project
        .tsc("gate light-base light-same --metric p99")
        .ends(3)
        .says("gate: nothing is judged: their single calls are not timed");
}

#[test]
fn what_cannot_be_judged_is_apart_from_a_regression() {
    let project = sessions();
    project
        .tsc("gate --baseline base/0.json slow/0.json")
        .ends(3)
        .says("1 and 1 runs are not judged");
    project
        .tsc("gate --baseline base/0.json slow/0.json --lenient")
        .ends(0);
    for run in 0..2 {
        for side in ["base", "slow"] {
            project.write(
                &format!("few-{side}/{run}.json"),
                &project.read(&format!("{side}/{run}.json")),
            );
        }
    }
    project
        .tsc("gate --baseline few-base few-slow")
        .ends(3)
        .says("2 and 2 runs are not judged");
    let json = project.tsc("diff few-base few-slow --json").ends(0).json();
    assert_eq!(verdict(&json, "app::inner::work"), "not-resolved");
}

#[test]
fn counts_are_compared_exactly() {
    let project = sessions();
    let write_with = |name: &str, calls: u64, unit: &str, units: u64| {
        let mut report = project.json("base/0.json");
        let work = |row: &Value| row["name"] == "work";
        let rows = report["callsites"].as_array_mut().unwrap();
        let index = rows.iter().position(work).unwrap();
        rows[index]["calls"] = calls.into();
        rows[index]["unit"] = unit.into();
        rows[index]["units"] = units.into();
        for context in report["contexts"].as_array_mut().unwrap() {
            if context["callsite"] == index {
                context["calls"] = calls.into();
            }
        }
        project.write(name, &report.to_string());
    };
    let write = |name: &str, calls: u64, bytes: u64| write_with(name, calls, "bytes", bytes);
    // Beside light probes, the calls of a path are not known.
    write("counts.json", 20, 1000);
    let mut unknown = project.json("counts.json");
    for context in unknown["contexts"].as_array_mut().unwrap() {
        context["calls"] = Value::Null;
    }
    project.write("unknown.json", &unknown.to_string());
    for words in ["unknown.json counts.json", "counts.json unknown.json"] {
        let json = project.tsc(&format!("diff {words} --metric calls --json"));
        let json = json.ends(0).json();
        for row in json["comparison"]["rows"].as_array().unwrap() {
            assert!(
                !["slower", "faster"].contains(&row["verdict"].as_str().unwrap()),
                "{row}"
            );
        }
    }
    write("counts.json", 20, 1000);
    write("more.json", 21, 1000);
    write("longer.json", 20, 1001);
    write("none.json", 20, 0);
    project
        .tsc("gate --baseline counts.json counts.json --metric calls")
        .ends(0)
        .says("gate: nothing is counted more often");
    project
        .tsc("gate --baseline counts.json more.json --metric calls")
        .ends(1)
        .says("gate: more: ")
        .says("app::outer > app::inner::work");
    project
        .tsc("gate --baseline more.json counts.json --metric calls")
        .ends(0)
        .says("2 fewer");
    project
        .tsc("gate --baseline counts.json longer.json --metric bytes")
        .ends(1)
        .says("gate: more: app::inner::work");
    project
        .tsc("gate --baseline none.json counts.json --metric bytes")
        .ends(1)
        .says("gate: more: app::inner::work");
    project
        .tsc("gate --baseline counts.json longer.json --metric items")
        .ends(3)
        .says("gate: nothing is compared");
    project
        .tsc("diff counts.json longer.json --metric items")
        .ends(0)
        .says("nothing to judge, because no function has this metric");
    write_with("items.json", 20, "items", 1000);
    write_with("item.json", 20, "items", 1001);
    project
        .tsc("gate --baseline items.json item.json --metric items")
        .ends(1)
        .says("gate: more: app::inner::work");
    // Before, the function's bytes were not counted, which is not the same as none.
    project
        .tsc("gate --baseline base/0.json counts.json --metric bytes")
        .ends(3)
        .says("gate: nothing is compared");
    // Two runs of the same code with different counts.
    write("varying/1.json", 20, 1000);
    write("varying/2.json", 22, 1000);
    project
        .tsc("gate --baseline varying more.json --metric calls")
        .ends(0)
        .says("2 not the same in each run")
        .says("gate: nothing is counted more often; 2 are not judged, because they vary")
        .remarks("is not judged");
    project.write("tsc.toml", "[gate]\nmetric = \"calls\"\n[gate.functions]\n\"app::inner::work\" = \"10%\"\n\"app::outer > app::inner::work\" = \"10%\"\n");
    project.tsc("gate --baseline counts.json more.json").ends(0);
}

#[test]
fn a_sum_of_runs_is_not_compared_with_a_run() {
    let project = sessions();
    let mut sum = project.json("base/0.json");
    sum["processes"] = 10.into();
    project.write("sum.json", &sum.to_string());
    for (words, objection) in [
        (
            "sum.json base",
            "a run is 10 processes in sum.json, 1 process in base:",
        ),
        (
            "base sum.json",
            "a run is 1 process in base, 10 processes in sum.json:",
        ),
    ] {
        let gate = format!("gate {words} --metric calls");
        project
            .tsc(&gate)
            .ends(3)
            .remarks(objection)
            .says("gate: not judged: ");
        project.tsc(&format!("{gate} --lenient")).ends(0);
    }
    project.tsc("gate sum.json sum.json --metric calls").ends(0);
}

#[test]
fn what_depends_on_the_order_of_functions_is_open() {
    let project = sessions();
    for (side, other, runs) in [("before", "after", 2), ("after", "before", 1)] {
        let mut about = Vec::new();
        for round in 0..10 {
            for run in 0..runs {
                let mut report = project.json(&format!("base/{round}.json"));
                // In half of the orders, the function takes a fifth longer after than before.
                let slower = f64::from(u8::from(side == "after" && round % 2 == 0));
                set_self(
                    work(&mut report),
                    1e6 + 2e5 * slower + 100.0 * f64::from(run + round % 3),
                );
                let folder = format!("{round:02}{run}");
                let name = format!("order-{side}/{folder}/1.json");
                project.write(&name, &report.to_string());
                about.push(serde_json::json!({ "folder": folder, "seconds": 1.0, "round": round, "order": round }));
            }
        }
        let about = serde_json::json!({
            "runs": about, "id": side, "interleaved_with": other
        });
        project.write(&format!("order-{side}/session.json"), &about.to_string());
    }
    let json = project.tsc("diff order-before order-after --json").ends(0);
    assert_eq!(verdict(&json.json(), "app::inner::work"), "layout");
    project
        .tsc("diff order-before order-after --fail-unresolved")
        .ends(3)
        .says("layout");
    project
        .tsc("gate order-before order-after")
        .ends(0)
        .says("gate: nothing slower by 1.0 %; up to ")
        .says(" in app::inner::work could not have been seen");
    project
        .tsc("gate order-before order-after --fail-unresolved")
        .ends(3)
        .says("gate: not resolved: ")
        .says("app::inner::work");
}

#[test]
fn a_session_that_had_to_wait_is_not_compared() {
    let project = sessions();
    for (name, seconds, waiting) in [("idle", 1.0, 0.1), ("asleep", 9.0, 0.1), ("busy", 2.0, 1.0)] {
        for run in 0..10 {
            let mut report = project.json(&format!("base/{run}.json"));
            let hz = report["clock"]["hz"].as_f64().unwrap();
            report["process"]["cpu_ns"] = 1_000_000_000.into();
            for row in report["callsites"].as_array_mut().unwrap() {
                row["sums"]["own_waiting"] = 0.into();
            }
            report["callsites"][0]["sums"]["own_waiting"] = ((waiting * hz) as i64).into();
            project.write(&format!("{name}/{run:03}/1.json"), &report.to_string());
        }
        let run = |run: u32| serde_json::json!({ "folder": format!("{run:03}"), "seconds": seconds, "cpu_seconds": 1.0 });
        let about = serde_json::json!({ "runs": Vec::from_iter((0..10).map(run)) });
        project.write(&format!("{name}/session.json"), &about.to_string());
    }
    project
        .tsc("diff idle busy")
        .ends(3)
        .remarks("the load differs")
        .remarks("--lenient compares them all the same");
    let page = project
        .tsc("report busy --since idle --html page.html")
        .ends(0);
    let page = page.remarks("the load differs");
    assert!(!page.err.contains("--lenient"), "{}", page.err);
    project.tsc("diff idle idle").ends(0);
    project.tsc("diff idle asleep").ends(0);
    // Counts do not depend on the load.
    project.tsc("diff idle busy --metric calls").ends(0);
}

/// Copies a session's runs to another session, with what is known of it and of each run.
fn session(project: &Project, from: &str, to: &str, mut about: Value, run: impl Fn(u32) -> Value) {
    let mut runs = Vec::new();
    for number in 0..10 {
        let report = project.read(&format!("{from}/{number}.json"));
        let folder = format!("{number:03}");
        project.write(&format!("{to}/{folder}/1.json"), &report);
        let mut one = run(number);
        one["folder"] = folder.into();
        runs.push(one);
    }
    about["runs"] = runs.into();
    project.write(&format!("{to}/session.json"), &about.to_string());
}

#[test]
fn a_run_that_a_signal_ended_is_not_compared() {
    let project = sessions();
    let status = |run: u32| serde_json::json!({ "status": if run == 3 { 130 } else { 0 } });
    session(&project, "same", "cut", serde_json::json!({}), status);
    let mut report = project.json("cut/003/1.json");
    for row in report["callsites"].as_array_mut().unwrap() {
        set_self(row, 1e3);
    }
    project.write("cut/003/1.json", &report.to_string());
    let ended = project.tsc("diff base cut --json").ends(0);
    assert_eq!(verdict(&ended.json(), "app::inner::work"), "no-change");
    ended.remarks("not compared: 1 of the runs of cut, which a signal has ended");
    // If a signal ends every run, that is how the program ends; and 255 is how it may end itself.
    for (name, often, status) in [("killed", 1, 143), ("itself", 3, 255)] {
        let status = |run: u32| serde_json::json!({ "status": if run.is_multiple_of(often) { status } else { 0 } });
        session(&project, "same", name, serde_json::json!({}), status);
        let json = project.tsc(&format!("diff base {name} --json"));
        let json = json.ends(0).json();
        assert_eq!(json["comparison"]["runs"], serde_json::json!([10, 10]));
    }
}

#[test]
fn sessions_without_the_same_functions_are_not_compared() {
    let project = sessions();
    let about = |all: bool, without: &[&str]| serde_json::json!({ "all": all, "without": without });
    let run = |_| serde_json::json!({});
    session(&project, "base", "first", about(true, &["a", "b"]), run);
    session(&project, "same", "other", about(true, &["c", "b"]), run);
    session(&project, "same", "alike", about(true, &["b", "a"]), run);
    session(&project, "same", "by-hand", about(false, &[]), run);
    project
        .tsc("gate first other")
        .ends(3)
        .remarks("not comparable: `run --all` left these out on one side only: a, c");
    project.tsc("gate first alike").ends(0);
    project
        .tsc("gate first by-hand")
        .ends(3)
        .remarks("one is of `run --all`, the other is not");
}

#[test]
fn what_one_side_has_left_out_is_no_change_of_the_others() {
    let project = Project::new(
        "#[tsc_runtime::cycles] fn inner() { std::hint::black_box(1); }
        #[tsc_runtime::cycles] fn outer() { inner() }
        fn main() { outer() }
        ",
    );
    project.tsc("run --name whole").ends(0);
    project.tsc("run --only outer --name part").ends(0);
    for sessions in ["whole part", "part whole"] {
        project
            .tsc(&format!("diff {sessions}"))
            .remarks("only one side has measured app::inner");
    }
}

#[test]
fn two_machines_or_kinds_of_probes_are_not_compared() {
    let project = sessions();
    let change = |key: &str, value: Value| {
        copy_reports(&project, "same", "elsewhere", |_, report| {
            *report.pointer_mut(key).unwrap() = value.clone();
        });
    };
    change("/machine/cpu", "Another CPU".into());
    project
        .tsc("gate --baseline base elsewhere")
        .ends(3)
        .remarks("not comparable: the CPU differs")
        .says("gate: not judged: the CPU differs");
    // A status other than 0 has a reason, also without remarks.
    let ended = project.tsc("gate base elsewhere --json -q").ends(3);
    let json = ended.json();
    let reason = json["objections"][0].as_str().unwrap();
    assert!(reason.starts_with("the CPU differs"), "{json}");
    assert_eq!(json["gate"], format!("not judged: {reason}"));
    assert!(json["comparison"].is_null(), "{json}");
    ended.remarks("not comparable: the CPU differs");
    project
        .tsc("diff base elsewhere")
        .ends(3)
        .remarks("Another CPU");
    project
        .tsc("diff base elsewhere --lenient")
        .ends(0)
        .says("without change");
    // Where nothing can be judged, nothing is slower either.
    copy_reports(&project, "slow", "slow-elsewhere", |_, report| {
        report["machine"]["cpu"] = "Another CPU".into();
    });
    project
        .tsc("gate base slow-elsewhere --lenient")
        .ends(0)
        .says("gate: not judged; otherwise: slower: app::inner::work");
    change("/clock/hz", 1e9.into());
    project
        .tsc("diff base elsewhere")
        .ends(3)
        .remarks("the counter's rate differs");
    project
        .tsc("report elsewhere --since base --html page.html")
        .ends(0)
        .remarks("--since: not comparable: the counter's rate differs");
    change("/clock/distrusted", true.into());
    project
        .tsc("diff base elsewhere")
        .ends(3)
        .remarks("is not trusted");
    let clock = serde_json::json!({
        "mean_us": 1.0, "ticks": 1, "cpu_share": 0.0, "age_ns": 1000, "cpu_ns": 0, "outside_ticks": 0, "subtracted_ticks": 0.0,
        "light_call_ticks": null, "no_times_because": null,
    });
    copy_reports(&project, "same", "by-ticks", |_, report| {
        report["tick_clock"] = clock.clone();
    });
    project
        .tsc("diff base by-ticks")
        .ends(3)
        .remarks("the kind of probe differs: timed before, light after");
}

#[test]
fn functions_that_come_and_go_are_said() {
    let project = sessions();
    copy(&project, "same", "renamed", |_, row| {
        row["name"] = "worker".into();
    });
    let json = project.tsc("diff base renamed --json").ends(0).json();
    assert_eq!(verdict(&json, "app::inner::work"), "gone");
    assert_eq!(verdict(&json, "app::inner::worker"), "new");
    copy(&project, "same", "rare", |run, row| {
        if run == 3 {
            row["name"] = "worker".into();
        }
    });
    project
        .tsc("diff base rare")
        .ends(0)
        .says("1 not judged")
        .remarks("because in some run it was not called, or has no time above 0 ")
        .remarks("is as large): app::inner::work\n");
}
