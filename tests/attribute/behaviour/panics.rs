//! Panics: their payload, location and frames, and the caller's location.

use std::backtrace::Backtrace;
use std::future::Future;
use std::panic::{self, Location};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tsc_runtime::cycles;

use crate::rows::row;
use crate::twice;

twice! {
    #[track_caller]
    pub(super) fn caller() -> (u32, u32) {
        let caller = Location::caller();
        (caller.line(), caller.column())
    }

    pub(super) fn panics(payload: u32) -> u32 {
        if payload < 100 { panic::panic_any(payload) } else { payload }
    }

    pub(super) fn indexes(values: &[u32], index: usize) -> u32 {
        values[index]
    }

    #[inline(never)]
    pub(super) fn frames() -> Vec<String> {
        let backtrace = Backtrace::force_capture().to_string();
        let frames = backtrace.lines().filter(|line| !line.trim_start().starts_with("at "));
        frames.map(str::to_owned).collect()
    }

    pub(super) async fn future_panics(payload: u32) -> u32 {
        if payload < 100 { panic::panic_any(payload) } else { payload }
    }

    pub(super) async fn future_frames() -> Vec<String> {
        frames()
    }
}

#[test]
fn payloads_pass_unchanged() {
    let payload = |f: fn(u32) -> u32| panic::catch_unwind(|| f(17)).unwrap_err().downcast::<u32>();
    assert_eq!(payload(annotated::panics).ok(), payload(bare::panics).ok());
    assert_eq!(payload(annotated::panics).ok(), Some(Box::new(17)));
}

#[test]
fn messages_are_the_same() {
    let message = |f: fn(&[u32], usize) -> u32| {
        let panicked = panic::catch_unwind(|| f(&[1], 3)).unwrap_err();
        *panicked.downcast::<String>().unwrap()
    };
    assert_eq!(message(annotated::indexes), message(bare::indexes));
}

#[test]
fn backtraces_have_the_same_frames() {
    let frames = [annotated::frames as fn() -> Vec<String>, bare::frames].map(|f| f());
    assert_eq!(without_module(&frames[0]), without_module(&frames[1]));
    assert!(frames[1].len() > 3);
}

/// There is one additional frame: the poll around the future.
#[test]
fn backtraces_of_futures_show_who_polls_them() {
    let frames = [
        poll(annotated::future_frames()),
        poll(bare::future_frames()),
    ];
    let is_polled = |frame: &String| frame.contains("tsc_core::probe::future::Polled");
    let frames = frames.map(|frames| frames.into_iter().filter(|frame| !is_polled(frame)));
    let [annotated, bare] = frames.map(|frames| without_module(&frames.collect::<Vec<_>>()));
    assert_eq!(annotated, bare);
}

#[test]
fn payloads_pass_a_future_unchanged() {
    let payload = panic::catch_unwind(|| poll(annotated::future_panics(17))).unwrap_err();
    assert_eq!(payload.downcast::<u32>().ok(), Some(Box::new(17)));
    assert_eq!(poll(bare::future_panics(100)), 100);
}

#[test]
fn calls_that_a_panic_ends_are_counted() {
    #[cycles(name = "panics at 0 and 3")]
    fn inner(n: u32) -> u32 {
        if n.is_multiple_of(3) {
            panic::panic_any(n)
        } else {
            n
        }
    }
    #[cycles(name = "is unwound, too")]
    fn outer(n: u32) -> u32 {
        inner(n) + 1
    }
    #[cycles(name = "catches")]
    fn catches(n: u32) -> bool {
        panic::catch_unwind(|| outer(n)).is_err()
    }
    assert_eq!((0..5).filter(|&n| catches(n)).count(), 2);
    for (name, panicked) in [
        ("panics at 0 and 3", 2),
        ("is unwound, too", 2),
        ("catches", 0),
    ] {
        let row = row(name);
        assert_eq!((row.calls(), row.panicked()), (5, panicked), "{name}");
    }
}

#[test]
fn polls_that_a_panic_ends_are_counted() {
    #[cycles(name = "future that panics at 0")]
    async fn panics_at_0(n: u32) -> u32 {
        if n == 0 { panic::panic_any(n) } else { n }
    }
    let _ = panic::catch_unwind(|| poll(panics_at_0(0))).unwrap_err();
    poll(panics_at_0(1));
    let row = row("future that panics at 0");
    assert_eq!((row.calls(), row.polls(), row.panicked()), (2, Some(2), 1));
    assert_eq!(row.cancelled(), Some(0));
}

/// The names of the frames in a backtrace, where each is numbered.
fn without_module(frames: &[String]) -> Vec<String> {
    let name = |frame: &String| {
        let name = frame.split_once(": ").map_or("", |(_, name)| name);
        name.replace("annotated", "bare")
    };
    frames.iter().map(name).collect()
}

fn poll<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!(),
    }
}

#[test]
fn track_caller_still_sees_the_caller() {
    let here = Location::caller().line();
    assert_eq!(annotated::caller().0, here + 1);
    assert_eq!(bare::caller().0, here + 2);
    let calls = [annotated::caller as fn() -> (u32, u32), bare::caller].map(|f| f());
    assert_eq!(calls[0].0, calls[1].0);
}
