//! Runs programs that once crashed or hung the runtime, or made it lose calls: see `programs/attacks`.
#![cfg(target_os = "linux")]

use std::process::Output;

use tests::{program, run, text};

fn attack(arguments: &[&str]) -> Output {
    let mut command = program(env!("CARGO_BIN_EXE_attacks"));
    run(command.args(arguments))
}

fn printed(arguments: &[&str]) -> String {
    text(&attack(arguments).stdout).trim_end().to_owned()
}

#[test]
fn section_that_outlives_its_thread_is_recorded() {
    let all = "50 calls, 0 running";
    assert_eq!(printed(&["section-outlives-thread"]), all);
    assert_eq!(printed(&["section-outlives-thread", "take"]), all);
    assert_eq!(printed(&["section-outlives-thread", "no-memory"]), all);
    // Each reset removed the section before it, so only the last one is left.
    let last = "1 calls, 0 running";
    assert_eq!(printed(&["section-outlives-thread", "reset"]), last);
}

#[test]
fn threads_may_be_cancelled() {
    assert_eq!(printed(&["cancelled"]), "1000000 1000000");
}

#[test]
fn calls_after_a_threads_end_take_no_time_of_their_callers() {
    let thousandths: f64 = printed(&["calls-after-end"]).parse().unwrap();
    assert!(thousandths < 300.0, "{thousandths}");
}

#[test]
fn first_call_may_come_after_thread_local_values_are_dropped() {
    // One call of each kind on the main thread, and four for each of the twelve times that a thread sets a key.
    assert_eq!(printed(&["first-call-in-key-destructor"]), "49 49\n0 0");
}

#[test]
fn fork_during_the_first_call_hangs_no_child() {
    assert_eq!(
        printed(&["first-call-races-fork", "400"]),
        "0 hung, 0 failed"
    );
}

#[test]
fn child_of_a_fork_in_the_middle_of_a_first_call_records_its_calls() {
    assert_eq!(
        printed(&["fork-in-first-call"]),
        "called_by_both: 0 failed\nlight: 0 failed"
    );
}

#[test]
fn samples_of_all_lengths_allocate_nothing() {
    assert_eq!(
        printed(&["wide-samples"]),
        "0 allocations, 276 of 276 calls"
    );
}

#[test]
fn exit_in_a_handler_exits() {
    for _ in 0..25 {
        for what in ["cold", "hot", "report", "light"] {
            attack(&["exit-in-handler", what]);
        }
    }
}

#[test]
fn exit_in_a_handler_says_nothing_if_reports_are_off() {
    for _ in 0..25 {
        let mut command = program(env!("CARGO_BIN_EXE_attacks"));
        command.args(["exit-in-handler", "cold"]);
        let output = run(command.env("TSC_REPORT", "off"));
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn control_in_a_handler_is_harmless() {
    for control in ["reset", "pause", "snapshot"] {
        assert_eq!(
            printed(&["control-in-handler", control]),
            "100 calls",
            "{control}"
        );
    }
}

/// Only on x86-64: where adding to a number takes more than one instruction, a call may be lost.
#[cfg(target_arch = "x86_64")]
#[test]
fn handler_that_calls_what_it_interrupts_loses_no_call() {
    assert_all_recorded("same-function-in-handler");
}

/// Also where the runtime is not optimised, and so needs much of the stack.
#[test]
fn light_calls_fit_on_the_stack_that_std_makes_for_handlers() {
    assert_all_recorded("light-on-signal-stack");
}

fn assert_all_recorded(attack: &str) {
    let printed = printed(&[attack]);
    let (made, recorded) = printed.split_once(" made, ").unwrap();
    assert_eq!(recorded, format!("{made} recorded"));
}
