//! The annotated functions, and the number of calls of each.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use tsc_runtime::__private::{Lfence, Section};
use tsc_runtime::{cycles, start, stop};

/// Calls made of one function.
pub(crate) struct Made {
    pub(crate) name: &'static str,
    calls: AtomicU64,
}

impl Made {
    const fn of(name: &'static str) -> Self {
        Self {
            name,
            calls: AtomicU64::new(0),
        }
    }

    pub(crate) fn add(&self, calls: u64) {
        self.calls.fetch_add(calls, Relaxed);
    }

    pub(crate) fn take(&self) -> u64 {
        self.calls.swap(0, Relaxed)
    }
}

pub(crate) static INNER: Made = Made::of("inner");
pub(crate) static OUTER: Made = Made::of("outer");
pub(crate) static VARIED: Made = Made::of("varied");
pub(crate) static RECURSIVE: Made = Made::of("recursive");
pub(crate) static SECTION: Made = Made::of("section");
pub(crate) static IN_HANDLER: Made = Made::of("in handler");
pub(crate) static AT_END: Made = Made::of("at end");
pub(crate) static ALL: [&Made; 7] = [
    &INNER,
    &OUTER,
    &VARIED,
    &RECURSIVE,
    &SECTION,
    &IN_HANDLER,
    &AT_END,
];

#[cycles(name = "inner")]
#[inline(never)]
fn inner(value: u64) -> u64 {
    black_box(value + 1)
}

#[cycles(name = "outer")]
#[inline(never)]
fn outer(value: u64) -> u64 {
    inner(value) + inner(value + 1)
}

#[cycles(name = "varied")]
#[inline(never)]
fn varied(value: u64) -> u64 {
    (0..1_u64 << (value % 14)).fold(value, |sum, step| black_box(sum ^ step))
}

#[cycles(name = "recursive")]
#[inline(never)]
fn recursive(depth: u64) -> u64 {
    if depth == 0 {
        0
    } else {
        recursive(depth - 1) + 1
    }
}

#[cycles(name = "in handler")]
#[inline(never)]
fn handled(value: u64) -> u64 {
    black_box(value + 3)
}

#[cycles(name = "at end")]
#[inline(never)]
fn at_end(value: u64) -> u64 {
    black_box(value + 4)
}

/// When its thread ends, makes calls and stops the section that it holds. The runtime's part of the thread ends before or after that.
struct AtEnd(Cell<Option<Section<Lfence>>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        (0..3).for_each(|value| _ = at_end(value));
        AT_END.add(3);
        if let Some(section) = self.0.take() {
            stop!(section);
            SECTION.add(1);
        }
    }
}

thread_local! {
    static FIRST_MADE: AtEnd = const { AtEnd(Cell::new(None)) };
    static LAST_MADE: AtEnd = const { AtEnd(Cell::new(None)) };
}

/// Makes some calls of every kind.
pub(crate) fn calls(seed: u64) {
    let section = start!("section");
    for value in 0..50 {
        outer(value);
        varied(seed + value);
    }
    let overlapping = start!("section");
    recursive(20);
    stop!(section);
    (0..100).for_each(|value| _ = inner(value));
    stop!(overlapping);
    INNER.add(200);
    OUTER.add(50);
    VARIED.add(50);
    RECURSIVE.add(21);
    SECTION.add(2);
}

/// The signal handler. [`begin`] has made the first call of its functions on each thread.
pub(crate) extern "C" fn handle(_: libc::c_int) {
    handled(1);
    inner(1);
    IN_HANDLER.add(1);
    INNER.add(1);
}

/// Makes the first calls of the functions that handlers call, because first calls allocate.
pub(crate) fn begin() {
    handled(0);
    inner(0);
    IN_HANDLER.add(1);
    INNER.add(1);
}

/// The main function of a thread: makes calls until `stop` is set.
pub(crate) fn live(stop: &AtomicBool, with_signals: impl Fn(bool)) {
    FIRST_MADE.with(|_| {});
    begin();
    with_signals(true);
    let mut seed = 0;
    while !stop.load(Relaxed) {
        calls(seed);
        seed += 1;
        if seed % 20 == 0 {
            // A short-lived thread, which leaves sections open until its end.
            let child = thread::spawn(|| {
                FIRST_MADE.with(|end| end.0.set(Some(start!("section"))));
                begin();
                LAST_MADE.with(|end| end.0.set(Some(start!("section"))));
                calls(5);
            });
            child.join().expect("the short-lived thread does not panic");
        }
    }
    with_signals(false);
}
