//! Programs with light probes that fork, end in odd places, receive signals, or may not do what the clock needs.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use tests::folder::Folder;
use tsc_runtime::Report;

/// What the program prints, and the reports of its processes: its own and then that of its child.
fn run(way: &str, variables: &[(&str, &str)]) -> (String, Vec<Report>) {
    // Tests that run at the same time may use the same way.
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let folder = Folder::new(&format!("lightly-{way}-{number}"));
    let program = tests::program(env!("CARGO_BIN_EXE_lightly"))
        .arg(way)
        .env("TSC_REPORT", "json")
        .env("TSC_REPORT_FILE", folder.path("%p.json"))
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = program.id();
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success(), "{way}: {output:?}");
    let mut reports: Vec<Report> = folder
        .files()
        .iter()
        .map(|name| Report::from_json(&fs::read_to_string(folder.path(name)).unwrap()).unwrap())
        .collect();
    reports.sort_by_key(|report| report.process().pid() != pid);
    (String::from_utf8(output.stdout).unwrap(), reports)
}

fn calls(report: &Report, name: &str) -> u64 {
    report
        .callsite(name)
        .unwrap_or_else(|| panic!("no row {name} in {report}"))
        .calls()
}

fn numbers(printed: &str) -> Vec<u64> {
    printed
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect()
}

#[test]
fn child_of_a_fork_starts_from_zero_and_has_a_clock() {
    let (_, reports) = run("fork", &[]);
    assert_eq!(reports.len(), 2);
    let (parent, child) = (&reports[0], &reports[1]);
    assert_eq!(calls(parent, "around_a_fork"), 6);
    // Its running calls were the parent's, but their time goes on here.
    let around = child.callsite("around_a_fork").unwrap();
    assert_eq!(around.calls(), 0);
    assert!(around.total_ticks() > 0.0, "{child}");
    let tiny = child.callsite("tiny").unwrap();
    assert!(
        tiny.calls() >= 10 && around.clock_ticks().unwrap() > 0,
        "{child}"
    );
    assert!(child.tick_clock().unwrap().ticks() > 0);
    let chain = child
        .contexts()
        .iter()
        .filter(|context| context.parent().is_some());
    assert!(chain.count() > 0, "{child}");
}

#[test]
fn timed_calls_after_a_light_one_in_the_child_are_the_child_s() {
    let (_, reports) = run("fork-with-timed-calls", &[]);
    let both = |report| (calls(report, "tiny"), calls(report, "timed"));
    assert_eq!((both(&reports[0]), both(&reports[1])), ((3, 3), (7, 7)));
}

/// Their calls are first calls again once the thread's part of the runtime has ended, and come in the middle of the report's allocations.
#[test]
fn handlers_of_signals_do_not_hang_the_report_at_the_end() {
    for _ in 0..10 {
        let (_, reports) = run("signals-to-the-end", &[]);
        assert!(calls(&reports[0], "tiny") > 0);
    }
}

#[test]
fn handlers_of_signals_are_counted() {
    let (printed, reports) = run("signals", &[]);
    let [tiny, handled] = numbers(&printed)[..] else {
        panic!("{printed}");
    };
    let report = &reports[0];
    // A handler that interrupts the runtime's own work is not counted there, and said to be missing.
    let unrecorded = report.unrecorded_calls();
    let counted = (calls(report, "tiny"), calls(report, "handled"));
    assert!(
        counted.0 <= tiny && counted.1 <= handled,
        "{counted:?} {printed}"
    );
    assert!(
        counted.0 + counted.1 + unrecorded >= tiny + handled,
        "{counted:?} + {unrecorded}: {printed}"
    );
}

#[test]
fn program_may_become_another_one_while_the_clock_runs() {
    let (printed, reports) = run("exec", &[]);
    assert_eq!(reports.len(), 1);
    assert_eq!([calls(&reports[0], "tiny")], numbers(&printed)[..]);
    assert!(reports[0].tick_clock().unwrap().ticks() > 0);
}

#[test]
fn exit_in_a_thread_reports_running_calls() {
    let (_, reports) = run("exit-in-thread", &[]);
    assert_eq!(calls(&reports[0], "tiny"), 10);
    assert_eq!(calls(&reports[0], "deep"), 4);
}

/// Each call of the recursion is longer than those before, and so is kept as one of the slowest. That takes most of the process's time.
#[test]
fn stops_that_take_long_are_no_functions_time() {
    let (_, reports) = run("timed-deep", &[]);
    let report = &reports[0];
    let deep = report.callsite("timed_deep").unwrap();
    assert!(deep.clock_ticks().unwrap() > 10, "{report}");
    let ns = deep.self_on_cpu_ticks().unwrap() / report.clock().hz().unwrap() * 1e9;
    let cpu_ns = report.process().cpu_ns().unwrap() as f64;
    assert!(ns < cpu_ns / 2.0, "{ns} of {cpu_ns}");
}

#[test]
fn deep_recursion_counts_its_time_once() {
    let (printed, reports) = run("deep", &[]);
    let report = &reports[0];
    let row = report.callsite("deep").unwrap();
    assert_eq!(row.calls(), 5_001 * numbers(&printed)[0]);
    assert_eq!(row.total_ticks(), row.self_ticks());
    let took = report.process().duration_ns() as f64 * 1e-9 * report.clock().hz().unwrap();
    assert!(
        row.total_ticks() > 0.0 && row.total_ticks() <= took,
        "{report}"
    );
    assert_eq!(report.contexts().len(), 1);
}

#[test]
fn many_threads_are_counted_exactly_and_leave_nothing_behind() {
    let (printed, reports) = run("threads", &[]);
    let row = reports[0].callsite("tiny").unwrap();
    assert_eq!((row.calls(), row.threads()), (100_000, 10_000));
    let resident = numbers(&printed);
    assert!(resident[1] < resident[0] + (4 << 20), "{resident:?} bytes");
}

#[test]
fn functions_can_be_left_out() {
    let (_, reports) = run("usual", &[("TSC_SKIP", "tiny")]);
    assert!(reports.is_empty() || reports[0].callsites().is_empty());
    let (_, reports) = run("exit-in-thread", &[("TSC_ONLY", "deep")]);
    assert_eq!(calls(&reports[0], "deep"), 4);
    assert!(reports[0].callsite("tiny").is_none());
}

#[test]
fn interval_of_the_clock_can_be_chosen() {
    let (_, reports) = run("two-ticks", &[("TSC_TICK", "20ms")]);
    let clock = reports[0].tick_clock().unwrap();
    assert!(clock.mean_us() > 5_000.0 && clock.ticks() < 40, "{clock:?}");
}

#[test]
fn wrong_interval_is_named_in_a_line_with_the_right_ones() {
    for wrong in ["19us", "2s", "soon"] {
        let mut program = tests::program(env!("CARGO_BIN_EXE_lightly"));
        let output = program.arg("usual").env("TSC_TICK", wrong).output();
        let text = tests::text(&output.unwrap().stderr);
        let line = format!(
            "tsc: TSC_TICK={wrong} is invalid: expected a time of 20us to 1s, such as 200us or 1ms; "
        );
        assert_eq!(text.matches(&line).count(), 1, "{text}");
    }
}

#[test]
fn times_and_what_was_subtracted_add_up_to_the_cpu_time() {
    let (printed, _) = run("add-up", &[]);
    let [sum, least, most] = numbers(&printed)[..] else {
        panic!("{printed}");
    };
    // The counter's rate is known to a part of a thousand and better.
    assert!(least <= sum && sum <= most + most / 1000, "{printed}");
}

#[test]
fn clock_slows_down_while_the_process_is_idle() {
    let (_, reports) = run("idle", &[]);
    let clock = reports[0].tick_clock().unwrap();
    assert!(clock.mean_us() > 5_000.0, "{clock:?}");
}

#[test]
fn calls_are_counted_where_no_clock_can_run() {
    for (way, why) in [
        ("forbid-threads", "no thread could be started"),
        ("forbid-counter", "the counter may not be read"),
        ("forbid-cpu-clock", "CLOCK_THREAD_CPUTIME_ID"),
    ] {
        let (printed, reports) = run(way, &[]);
        let report = &reports[0];
        assert_eq!(calls(report, "tiny"), numbers(&printed)[0], "{way}");
        let clock = report.tick_clock().unwrap();
        let because = clock.no_times_because().unwrap_or_default();
        assert!(because.contains(why), "{way}: {because:?}");
        let text = report.to_string();
        assert!(text.contains("no times are known"), "{way}: {text}");
        assert_eq!(report.callsite("tiny").unwrap().total_ticks(), 0.0, "{way}");
    }
}

#[test]
fn time_off_the_cpu_is_not_divided_without_descriptors() {
    // What the kernel shows of the program, it shows here, too.
    #[tsc_runtime::cycles(name = "sleeper")]
    fn sleeper() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    sleeper();
    if !tests::shows_sleep(&tests::row("sleeper")) {
        return;
    }
    let (_, reports) = run("few-descriptors", &[]);
    let report = &reports[0];
    let sleeping = report.callsite("sleeping").unwrap();
    assert!(sleeping.on_cpu_ticks().unwrap() < 0.5 * sleeping.total_ticks());
    assert_eq!(
        (sleeping.blocked_ticks(), sleeping.waiting_ticks()),
        (None, None)
    );
    let text = report.to_string();
    assert!(text.contains("schedstat cannot be read here"), "{text}");
}

#[test]
fn time_is_given_to_functions_where_the_clock_takes_the_cpu_and_nobody_tells() {
    let (_, reports) = run("few-descriptors-on-one-cpu", &[]);
    let working = reports[0].callsite("working").unwrap();
    let (on_cpu, all) = (working.on_cpu_ticks().unwrap(), working.wall_ticks());
    // Other programs may have most of the CPU.
    assert!(on_cpu > 0.02 * all, "{on_cpu} of {all}");
}

#[test]
fn clock_has_the_niceness_of_the_thread_that_starts_it() {
    let (printed, _) = run("nice", &[]);
    let [own, of_clock] = numbers(&printed)[..] else {
        panic!("{printed}");
    };
    assert_eq!(own, of_clock);
}

#[test]
fn clock_runs_with_the_default_scheduling() {
    let (printed, reports) = run("forbid-scheduling", &[]);
    let report = &reports[0];
    let tiny = report.callsite("tiny").unwrap();
    assert_eq!(tiny.calls(), numbers(&printed)[0]);
    assert!(report.tick_clock().unwrap().ticks() > 0 && tiny.self_ticks() > 0.0);
}

#[test]
fn libc_does_not_know_of_the_clock() {
    let is_single_threaded = |signals| {
        let (printed, reports) = run("single-threaded", &[("TSC_SIGNALS", signals)]);
        let tiny = reports[0].callsite("tiny").unwrap();
        assert!(tiny.clock_ticks().unwrap() > 0, "{}", reports[0]);
        numbers(&printed) == [1]
    };
    assert!(is_single_threaded("off"));
    // The thread that waits for signals is one of libc's.
    assert!(!is_single_threaded("on") || cfg!(not(target_env = "gnu")));
}
