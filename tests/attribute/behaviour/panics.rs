//! Panics: payload, location, frames; and where a function was called from.

use std::backtrace::Backtrace;
use std::panic::{self, Location};

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
    pub(super) fn frames() -> usize {
        let backtrace = Backtrace::force_capture().to_string();
        backtrace.lines().filter(|line| !line.trim_start().starts_with("at ")).count()
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
    let frames = [annotated::frames as fn() -> usize, bare::frames].map(|f| f());
    assert_eq!(frames[0], frames[1]);
    assert!(frames[0] > 3);
}

#[test]
fn track_caller_still_sees_the_caller() {
    let here = Location::caller().line();
    assert_eq!(annotated::caller().0, here + 1);
    assert_eq!(bare::caller().0, here + 2);
    let calls = [annotated::caller as fn() -> (u32, u32), bare::caller].map(|f| f());
    assert_eq!(calls[0].0, calls[1].0);
}
