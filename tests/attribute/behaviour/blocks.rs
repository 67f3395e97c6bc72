//! `cycles_block!`, `gclk!`, `start!` and `stop!`.

use std::env;
use std::future::{Future, ready};
use std::io::{self, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::futures::run;
use crate::rows::row;
use tsc_runtime::tsc::{FencePolicy, Ticks, Unfenced};
use tsc_runtime::{cycles, cycles_block, gclk, start, stop};

fn question_mark(text: &str) -> Result<u32, std::num::ParseIntError> {
    let number = cycles_block!("question mark", [text], { text.parse::<u32>()? });
    Ok(number + 1)
}

fn returns(early: bool) -> u32 {
    cycles_block!("returns", fence = "none", {
        if early {
            return 1;
        }
    });
    cycles_block!("always returns", { return 2 })
}

#[test]
fn every_way_out_of_a_block() {
    assert_eq!(question_mark("3"), Ok(4));
    assert!(question_mark("x").is_err());
    assert_eq!((returns(true), returns(false)), (1, 2));
    let labelled = 'outer: { cycles_block!("labelled", { break 'outer 3 }) };
    assert_eq!(labelled, 3);
    let mut sum = 0;
    for i in 0..10 {
        cycles_block!("loop", {
            if i == 2 {
                continue;
            }
            if i == 5 {
                break;
            }
        });
        sum += i;
    }
    assert_eq!(sum, 1 + 3 + 4);
}

#[test]
fn a_block_may_make_what_waits() {
    let sum = cycles_block!("makes what waits", {
        async fn either<A: Future, B>(first: A, _second: B) -> Result<A::Output, B> {
            Ok(first.await)
        }
        let add = async move |a: u32, b: u32| a + ready(b).await;
        let most = async |a: u32, b: u32| -> u32 { a.max(ready(b).await) };
        let least = async |a: u32, b: u32| if a < b { a } else { ready(b).await };
        async move {
            Ok::<_, ()>(
                add(
                    either(ready(1), ()).await?,
                    most(2, least(4, 3).await).await,
                )
                .await,
            )
        }
    });
    assert_eq!(run(sum), Ok(4));
}

#[test]
fn gclk_has_the_value_of_its_statement() {
    gclk!(let sum: u64 = (1..=10).sum());
    gclk!(let mut next: u64 = sum + 1);
    gclk!(let (a, b) = (sum, 2));
    next += gclk!(a * b);
    gclk!(next += 1;);
    assert_eq!(next, 55 + 1 + 110 + 1);
}

#[test]
fn gclk_takes_any_pattern_with_a_type() {
    gclk!(let [first, .., last]: [u8; 3] = [1, 2, 3]);
    gclk!(let _: u8 = first;);
    gclk!(let std::ops::Range { start: one, .. }: std::ops::Range<u8> = first..last);
    assert_eq!((one, last), (1, 3));
    let second = |numbers: &[u8]| -> u8 {
        gclk!(let Some(number): Option<&u8> = numbers.get(1) else { return 9 });
        *number
    };
    assert_eq!((second(&[1]), second(&[1, 2])), (9, 2));
}

/// In a module of its own, because the lint finds code of other tests.
mod blocks_that_leave {
    #![forbid(unreachable_code)]

    use tsc_runtime::{cycles_block, gclk};

    #[test]
    fn are_no_unreachable_code() {
        let leaves = |by_clk: bool| -> u8 {
            if by_clk {
                gclk!(return 1);
            }
            cycles_block!("leaves", { return 2 })
        };
        assert_eq!((leaves(true), leaves(false)), (1, 2));
    }
}

#[test]
fn gclk_takes_a_let_with_else() {
    let second = |numbers: &[u64]| -> Option<u64> {
        gclk!(let Some(number) = numbers.get(1) else { return Some(9) });
        gclk!(let (Some(first), 1..=9) = (numbers.first(), *number) else {
            return Some(0);
        };);
        gclk!(let Some(sum) = first.checked_add(*number) else { return Some(8) }; std::hint::black_box(sum););
        Some(first + number)
    };
    assert_eq!(second(&[1]), Some(9));
    assert_eq!(second(&[u64::MAX, 1]), Some(8));
    assert_eq!(second(&[1, 10]), Some(0));
    assert_eq!(second(&[1, 2]), Some(3));
}

#[test]
fn gclk_takes_any_statements() {
    let mut calls = Vec::new();
    gclk!(calls.push(1); calls.push(2););
    gclk! {
        calls.push(3)
    }
    gclk! { for n in 4..=5 { calls.push(n); } }
    let length = gclk!(let more = 1; calls.len() + more);
    gclk!(let (first, last): (u8, u8) = (calls[0], calls[4]));
    assert_eq!(
        (calls.clone(), length, first, last),
        (vec![1, 2, 3, 4, 5], 6, 1, 5)
    );
    let early = || -> Option<u8> {
        gclk!(let one = Some(1)?; let none: u8 = None?; let _ = one + none;);
        Some(7)
    };
    assert_eq!(early(), None);
    if gclk!(calls.clear(); calls.len() > 9) {
        unreachable!("the last one's value counts");
    }
}

/// Runs the test of this name in a process of its own and returns what it prints on stderr.
fn stderr_of(test: &str) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.env("TSC_REPORT", "off").env("TSC_TEST_ALONE", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{:?}", output);
    String::from_utf8(output.stderr).unwrap()
}

/// `:CLK: %-50.50s :%14I64d`, as GCLK printed it.
#[test]
fn gclk_prints_its_line_at_once() {
    let printed = stderr_of("blocks::gclk_has_the_value_of_its_statement");
    let lines: Vec<_> = printed
        .lines()
        .filter_map(|line| line.strip_prefix(":CLK: "))
        .collect();
    let texts = lines.iter().map(|line| line[..50].trim_end());
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [
            "let sum: u64 = (1..=10).sum()",
            "let mut next: u64 = sum + 1",
            "let (a, b) = (sum, 2)",
            "a * b",
            "next += 1",
        ]
    );
    for line in lines {
        assert_eq!(&line[50..52], " :");
        let (ticks, unit) = line[52..].split_at(14);
        assert!(ticks.trim_start().parse::<i64>().is_ok(), "{}", line);
        assert!([" ticks", " ns"].contains(&unit), "{}", line);
    }
}

#[test]
fn gclk_has_the_time_in_which_annotated_functions_wait() {
    #[cycles(name = "waits in gclk")]
    fn wait() {
        std::thread::sleep(std::time::Duration::from_millis(40));
    }
    if env::var_os("TSC_TEST_ALONE").is_some() {
        gclk!(wait());
        return;
    }
    let printed = stderr_of("blocks::gclk_has_the_time_in_which_annotated_functions_wait");
    let line = printed
        .lines()
        .find(|line| line.starts_with(":CLK: wait()"));
    let [.., ticks, _] = line.unwrap().split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{}", printed);
    };
    // No counter of ours is slower than 13 MHz.
    assert!(ticks.parse::<u64>().unwrap() > 500_000, "{}", printed);
}

#[test]
fn gclk_names_all_of_several_statements_on_one_line() {
    let printed = stderr_of("blocks::gclk_takes_any_statements");
    let texts = printed
        .lines()
        .filter_map(|line| line.strip_prefix(":CLK: "))
        .map(|line| line[..50].trim_end_matches(' '));
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [
            "calls.push(1); calls.push(2)",
            "calls.push(3)",
            "for n in 4..=5 { calls.push(n); }",
            "let more = 1; calls.len() + more",
            "let (first, last): (u8, u8) = (calls[0], calls[4])",
            "let one = Some(1)?; let none: u8 = None?; let _ =",
            "calls.clear(); calls.len() > 9",
        ]
    );
}

/// An output whose contents the test can read.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A `gclk!` in the output's own code must not wait forever for the output.
        gclk!(self.0.lock().unwrap().extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn gclk_prints_where_it_is_sent() {
    // The whole process has one output, and other tests print at the same time. So use a process of its own.
    if env::var_os("TSC_TEST_ALONE").is_none() {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "blocks::gclk_prints_where_it_is_sent"]);
        let output = command.env("TSC_TEST_ALONE", "1").output().unwrap();
        // If no test has this name, none is run, and that is a success, too.
        let is_run = String::from_utf8_lossy(&output.stdout).contains("1 passed");
        assert!(output.status.success() && is_run, "{:?}", output);
        return;
    }
    let shared = Shared::default();
    tsc_runtime::gclk_to(shared.clone());
    gclk!(let sum: u32 = (1..=4).sum());
    assert_eq!(sum, 10);
    tsc_runtime::gclk_to(io::sink());
    gclk!(sum + 1);
    let written = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
    assert!(
        written.starts_with(":CLK: let sum: u32 = (1..=4).sum() ") && written.lines().count() == 1,
        "{}",
        written
    );
}

#[test]
fn stop_has_the_net_ticks() {
    let outer = start!("stopped");
    for _ in 0..10 {
        cycles_block!("nested in stopped", { std::hint::black_box(1) });
    }
    spin(1_000_000);
    let ticks = stop!(outer);
    let report = tsc_runtime::snapshot();
    let row = report.callsite("stopped").unwrap();
    // This is the total of a single call. Its overhead may have been calibrated again in the meantime.
    let ticks = ticks.unwrap();
    assert!(
        (ticks / row.total_ticks() - 1.0).abs() < 0.01,
        "{} {:?}",
        ticks,
        row
    );
}

/// Runs for at least `ticks`.
fn spin(ticks: Ticks) {
    let start = Unfenced::start();
    while Unfenced::start().wrapping_sub(start) < ticks {}
}

/// Two sections of two spins each, which overlap in one spin. Neither section must count the other one as a callee.
#[test]
fn sections_overlap_and_nest() {
    const TICKS: Ticks = 10_000_000;
    // The first call with a fence policy calibrates it. This takes longer than the spins, and would be subtracted from a section around it.
    cycles_block!("calibrated", {});
    cycles_block!("calibrated too", fence = "none", {});
    let before = Unfenced::start();
    let first = start!("first");
    spin(TICKS);
    let second = start!("second", fence = "none");
    spin(TICKS);
    stop!(first);
    let before_third = Unfenced::start();
    let third = start!("third");
    stop!(third);
    let after_third = Unfenced::start();
    spin(TICKS);
    stop!(second);
    let after = Unfenced::start();
    let (first, second, third) = (row("first"), row("second"), row("third"));
    assert_eq!((first.calls(), second.calls(), third.calls()), (1, 1, 1));
    for both in [&first, &second] {
        assert!(
            (both.self_ticks() / both.total_ticks() - 1.0).abs() < 0.01,
            "{:?}",
            both
        );
        // The lower bound is the time of the spins minus the cost of the probes inside. The upper bound is the time around the section.
        let most = after.wrapping_sub(before) as f64;
        assert!(
            (0.99 * 2.0 * TICKS as f64..most).contains(&both.wall_ticks()),
            "{:?}",
            both
        );
    }
    assert!(third.total_ticks() < after_third.wrapping_sub(before_third) as f64);
}

#[test]
fn a_section_that_is_dropped_is_told_and_not_recorded() {
    drop(start!("dropped"));
    let row = row("dropped");
    assert_eq!((row.anomalies(), row.samples()), (1, 0));
}

#[test]
fn a_section_that_is_dropped_is_told_on_stderr() {
    let printed = stderr_of("blocks::a_section_that_is_dropped_is_told_and_not_recorded");
    assert!(
        printed.contains(r#"the section "dropped" started at"#) && printed.contains("blocks.rs"),
        "{}",
        printed
    );
}
