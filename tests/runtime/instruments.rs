//! `measure`, `compare` and `instruction!` as a user calls them. Margins are wide: `instrument_checks` compares the figures themselves
//! with known ones.
#![cfg(target_arch = "x86_64")]

use std::arch::asm;
use std::cell::Cell;
use std::time::{Duration, Instant};

use tsc_runtime::compare::{Compare, CompareError, Relation};
use tsc_runtime::instruction::{InstructionError, Timing};
use tsc_runtime::measure::{Measure, Note, Verdict};
use tsc_runtime::{cycles, instruction, measure, measure_minus, tsc};

macro_rules! additions {
    ($count:literal) => {
        // SAFETY: integer arithmetic on declared registers.
        unsafe {
            asm!(
                concat!(".rept ", $count), "add {x}, {y}", ".endr",
                x = inout(reg) 1_u64 => _, y = in(reg) 3_u64, options(nostack),
            );
        }
    };
}

#[test]
fn twenty_times_the_work_takes_longer() {
    let (once, more) = (
        measure("once", || additions!(100)),
        measure("twenty times", || additions!(2000)),
    );
    assert!(more.p50_ticks() > 5.0 * once.p50_ticks(), "{once}\n{more}");
    // If the result is constant, it has core cycles, and for this chain their number is known.
    if let Some(cycles) = more.core_cycles() {
        assert!((1000.0..4000.0).contains(&cycles), "{more}");
    }
}

#[test]
fn baseline_is_subtracted() {
    let little_less = measure_minus("1900", || additions!(100), || additions!(2000));
    let much_less = measure_minus("100", || additions!(1900), || additions!(2000));
    assert!(
        little_less.p50_ticks() > 4.0 * much_less.p50_ticks(),
        "{little_less}\n{much_less}"
    );
    assert!(much_less.baseline_ticks() > little_less.baseline_ticks());
}

#[test]
fn time_limit_is_kept() {
    let started = Instant::now();
    let measured = Measure::new("slow")
        .time_limit(Duration::from_millis(50))
        .run(|| std::thread::sleep(Duration::from_millis(5)));
    // The limit is 50 ms, plus a quarter of it for the first calls and the last sample. The bound leaves room for a busy machine.
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
    assert!(matches!(measured.verdict(), Verdict::Unsettled { .. }));
    assert!(measured.to_string().contains("not constant"));
}

#[cycles(name = "sleeps")]
fn sleeps() {
    std::thread::sleep(Duration::from_millis(20));
}

#[cycles(name = "around an instrument")]
fn around_instrument() {
    let first = Cell::new(true);
    let short = Measure::new("sleeps at first").time_limit(Duration::from_millis(1));
    let _ = short.run(|| {
        if first.take() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}

#[test]
fn instrument_hides_no_sleep_from_the_function_around_it() {
    sleeps();
    around_instrument();
    if tests::is_split(&tsc_runtime::snapshot(), "sleeps") {
        let around = tests::row("around an instrument");
        let blocked = around.blocked_ticks().unwrap_or(0.0);
        assert!(2.0 * blocked > around.total_ticks(), "{around:?}");
    }
}

#[test]
fn other_fences_and_overlapping_calls_are_measured_as_well() {
    let measure = || Measure::new("chain").time_limit(Duration::from_millis(200));
    let drained = measure()
        .fence::<tsc::Mfence>()
        .bytes(500)
        .run(|| additions!(1000));
    let a_call = drained.core_cycles().unwrap_or(drained.mean_ticks());
    assert_eq!(drained.per_byte(), Some(a_call / 500.0));
    // Each chain starts from the same value, so chains overlap: the next one begins before the last has ended.
    let overlapping = measure().overlapping().run(|| additions!(1000));
    assert!(overlapping.calls_per_sample() > 1);
    assert!(
        overlapping.p50_ticks() < 3.0 * drained.p50_ticks(),
        "{overlapping}\n{drained}"
    );
}

#[test]
fn run_ends_with_its_verdict() {
    let measured = measure("chain", || additions!(1000));
    let last = measured.settling().last().expect("a run has an end");
    let expected = if measured.is_constant() {
        Note::Constant
    } else {
        Note::Unsettled
    };
    assert_eq!(last.note(), Some(expected));
    assert!(measured.first_ticks() > 0.0);
}

#[test]
fn what_cannot_be_done_is_said() {
    let measured = Measure::new("nowhere")
        .pin(9999)
        .time_limit(Duration::from_millis(10))
        .run(|| additions!(100));
    assert!(
        measured
            .remarks()
            .iter()
            .any(|remark| remark.contains("9999")),
        "{:?}",
        measured.remarks()
    );
}

#[test]
fn each_input_is_used_once_and_each_result_dropped() {
    struct Counted<'a>(&'a Cell<usize>);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let (made, used, dropped) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let setup = || {
        made.set(made.get() + 1);
        false
    };
    let _ = Measure::new("inputs")
        .time_limit(Duration::from_millis(20))
        .run_with(setup, |was_used| {
            assert!(!std::mem::replace(was_used, true), "an input came twice");
            used.set(used.get() + 1);
            Counted(&dropped)
        });
    assert!(used.get() > 0 && used.get() <= made.get());
    assert_eq!(used.get(), dropped.get());
}

#[test]
fn comparison_tells_what_is_wrong_with_its_candidates() {
    let inputs = [1_u64, 2, 3];
    let none: [u64; 0] = [];
    assert_eq!(
        Compare::new("one", &inputs)
            .add("a", |x| *x)
            .run()
            .unwrap_err(),
        CompareError::TooFew
    );
    assert_eq!(
        Compare::new("none", &none)
            .add("a", |x| *x)
            .add("b", |x| *x)
            .run()
            .unwrap_err(),
        CompareError::NoInputs
    );
    let different = Compare::new("different", &inputs)
        .add("same", |x| *x)
        .add("capped", |x| *x.min(&2))
        .check()
        .run();
    let expected = CompareError::Differ {
        first: "same".into(),
        other: "capped".into(),
        input: 2,
    };
    assert_eq!(different.unwrap_err(), expected);
}

#[test]
fn twenty_times_the_work_is_slower() {
    let inputs = [(); 3];
    let comparison = Compare::new("work", &inputs)
        .add("once", |()| additions!(100))
        .add("twenty times", |()| additions!(2000))
        .run()
        .expect("there was time enough");
    assert_eq!(comparison.rows()[1].relation(), Relation::Slower);
    assert_eq!(comparison.fastest(), Some("once"));
}

#[test]
fn listing_of_a_user_is_measured() {
    // SAFETY: it changes registers that a listing may change.
    let imul = unsafe { instruction!("imul", "r64,r64", listing r"imul r\i, rcx") };
    // SAFETY: it changes registers that a listing may change.
    let pair = unsafe {
        instruction!("pair", "", class vector, init "xorps xmm0, xmm0", setup "xor eax, eax",
        listing r"addps xmm\i, xmm0; mulps xmm\i, xmm0", chain none, copies 5)
    };
    // If a measurement was disturbed too much, the result is an error that says so instead of a figure.
    let undisturbed = |timing: Result<Timing, InstructionError>| match timing {
        Ok(timing) => Some(timing),
        Err(InstructionError::Disturbed { .. } | InstructionError::Untrustworthy { .. }) => None,
        Err(error) => panic!("{error}"),
    };
    if let Some(timing) = undisturbed(imul.measure()) {
        let latency = timing.latency().expect("a chain was measured").cycles();
        assert!((1.5..6.0).contains(&latency), "{latency} cycles, not 3");
    }
    if let Some(timing) = undisturbed(pair.measure()) {
        assert!(timing.latency().is_none() && timing.throughput().is_some());
    }
}

#[test]
fn what_the_cpu_lacks_is_skipped() {
    // Some AMD processors of the 2010s have it.
    // SAFETY: no CPU executes it that lacks TBM, and where there is one, nothing is measured.
    let none = unsafe { instruction!("none", "", requires "tbm", listing "ud2", chain none) };
    if !std::arch::is_x86_feature_detected!("tbm") {
        assert_eq!(
            none.measure().unwrap_err(),
            InstructionError::Missing("tbm")
        );
    }
}

#[test]
fn listing_may_have_labels_of_its_own() {
    // Three turns of a loop with the label 2, which most people write.
    // SAFETY: it changes registers that a listing may change.
    let turns = unsafe {
        instruction!("loop", "3 turns", listing "mov ecx, 3; 2:; dec ecx; jnz 2b", chain none, copies 1)
    };
    match turns.measure() {
        Ok(timing) => {
            let turns = timing.throughput().expect("throughput was measured");
            assert!(turns.cycles() > 0.5 && turns.ticks() > 0.0, "{turns}");
        }
        // It was disturbed too much, which is no fault of the labels.
        Err(
            why @ (InstructionError::Disturbed { .. } | InstructionError::Untrustworthy { .. }),
        ) => {
            tests::skipped(&why.to_string());
        }
        Err(why) => panic!("{why}"),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn listing_that_does_not_end_or_crashes_is_an_error() {
    if tsc_runtime::tsc::detect().is_err() {
        return;
    }
    // SAFETY: the child process that executes it is ended.
    let endless =
        unsafe { instruction!("jmp", "to itself", listing "2: jmp 2b", chain none, copies 1) };
    // The second measurement gives the same error as the first.
    for _ in 0..2 {
        assert_eq!(endless.measure().unwrap_err(), InstructionError::Endless);
    }
    // SAFETY: a child process executes it, and is ended by it.
    let illegal = unsafe { instruction!("ud2", "", listing "ud2", chain none, copies 1) };
    assert_eq!(
        illegal.measure().unwrap_err(),
        InstructionError::Crashed {
            signal: libc::SIGILL
        }
    );
    // SAFETY: a child process executes it, and is ended by it: registers contain 1, so the quotient has 65 bits.
    let divide = unsafe { instruction!("div", "r64", listing r"div r\i") };
    let error = divide.measure().unwrap_err();
    assert_eq!(
        error,
        InstructionError::Crashed {
            signal: libc::SIGFPE
        }
    );
    assert!(error.to_string().contains("quotient"), "{error}");
    // SAFETY: it divides 1 by 1, and changes registers that a listing may change.
    let one = unsafe { instruction!("div", "1", listing "xor edx, edx; div rcx", chain none) };
    assert!(!matches!(
        one.measure(),
        Err(InstructionError::Crashed { .. })
    ));
    // SAFETY: a child process executes it, and is ended by it.
    let null = unsafe {
        instruction!("mov", "[0],al", listing "mov byte ptr [0], al", chain none, copies 1)
    };
    assert_eq!(
        null.measure().unwrap_err(),
        InstructionError::Crashed {
            signal: libc::SIGSEGV
        }
    );
}

#[test]
fn listing_that_is_too_long_for_the_time_allowed_is_an_error() {
    if tsc_runtime::tsc::detect().is_err() {
        return;
    }
    // The loop has millions of turns, and the time limit is much too short for them.
    // SAFETY: it changes registers that a listing may change.
    let long = unsafe {
        instruction!("loop", "long", listing "mov ecx, 3000000; 2:; dec ecx; jnz 2b", chain none, copies 1)
    };
    let limit = Duration::from_millis(2);
    let why = long.measure_within(limit).unwrap_err();
    assert!(
        matches!(why, InstructionError::TooLong { limit: said, .. } if said == limit),
        "{why}"
    );
    assert!(why.to_string().contains("fewer `copies`"), "{why}");
}
