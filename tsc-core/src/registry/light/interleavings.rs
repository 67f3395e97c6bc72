//! Light probes. Where times matter, each thread's time is simulated: it passes only when the test says so. The clock is a thread of the test.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use shuttle::thread::spawn;

use super::check::take_left_behind;
use crate::interruption::current;
use crate::on_cpu::script;
use crate::probe::empty_calls::Light;
use crate::probe::light::LightProbe;
use crate::record::callsite::Callsite;
use crate::record::light::{self, Frame, PathSums};
use crate::record::thread;
use crate::registry::interleavings::{Known, begin_process, call, check, join, read, take};
use crate::registry::{Recorded, reset, take_figures};
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::sync::{spin_loop, thread_local};
use crate::tick_clock::EPOCH;
use tsc_report::__private::Combine;

/// The ticks of one piece of work.
const WORK: u64 = 1000;
/// Later than all times of the simulated threads, so that no tick falls into a check.
const LATER: u64 = 1 << 50;

/// A call of `outer` that works, calls `inner`, which works, too, and works again.
fn nest(outer: &'static Callsite, inner: &'static Callsite) {
    let frame = Frame::new();
    let _probe = LightProbe::start(outer, &frame);
    script::run(WORK);
    {
        let frame = Frame::new();
        let _probe = LightProbe::start(inner, &frame);
        script::run(WORK);
    }
    script::run(WORK);
}

/// Adds the times of both rows, and of what is outside of them.
fn add(figures: &Recorded, callsites: [&'static Callsite; 2], sums: &mut PathSums) {
    let [outer, inner] = callsites.map(|callsite| {
        let mut rows = figures.callsites.iter();
        let row = rows.find(|(of, _)| std::ptr::eq(*of, callsite));
        row.map(|(_, totals)| totals.sums.clone())
            .unwrap_or_default()
    });
    assert_eq!(outer.ticked, outer.ticked_own + inner.ticked_own);
    for row in [&outer, &inner] {
        assert!(row.ticked_own >= 0 && row.ticked_own_off == 0, "{row:?}");
        sums.ticks += row.clock_ticks;
        sums.on_cpu += row.ticked_own;
    }
    let outside = &figures.ticked.outside;
    assert!(outside.on_cpu >= 0 && outside.off == 0, "{outside:?}");
    sums.merge(outside);
}

/// The clock ticks, and a report takes the figures, while threads call, settle and end: all time of a thread is in one report.
#[test]
fn time_of_a_thread_is_taken_once() {
    const CALLS: [u64; 2] = [2, 3];
    const TICKS: u64 = 4;
    check(|| {
        let callsites = begin_process::<Light>();
        let [outer, inner] = callsites;
        let threads = CALLS.map(|calls| {
            spawn(move || {
                script::begin();
                (0..calls).for_each(|_| nest(outer, inner));
            })
        });
        let clock = spawn(|| (0..TICKS).for_each(|_| EPOCH.advance(LATER)));
        let mut sums = PathSums::default();
        let mut take = || {
            let figures = take_figures().expect("not in the cold path");
            assert_eq!(figures.unrecorded, 0);
            add(&figures, callsites, &mut sums);
        };
        for _ in 0..3 {
            take();
            spin_loop();
        }
        join(threads);
        join([clock]);
        take();
        assert!(sums.ticks <= TICKS * CALLS.len() as u64, "{sums:?}");
        let all = 3 * WORK * CALLS.iter().sum::<u64>();
        let left = take_left_behind();
        assert_eq!(sums.on_cpu + left.since_tick + left.pending, all as i64);
    });
}

/// A tick that comes while a thread arms its word is found by the next probe of the thread.
#[test]
fn no_tick_is_lost() {
    check(|| {
        let [a, _] = begin_process::<Light>();
        let has_ticked = Arc::new(AtomicBool::new(false));
        let clock = {
            let has_ticked = Arc::clone(&has_ticked);
            spawn(move || {
                EPOCH.advance(LATER);
                has_ticked.store(true, SeqCst);
            })
        };
        let thread = spawn(move || {
            script::begin();
            // Shuttle knows the words that are the thread's own.
            thread::this().detector.detach();
            for _ in 0..4 {
                // The call looks what has happened, and arms the word.
                EPOCH.words.make_stale();
                call(a);
            }
            while !has_ticked.load(SeqCst) {
                spin_loop();
            }
            call(a);
            let last = EPOCH.last();
            assert_eq!(light::this().account.notice(last), last);
        });
        join([clock, thread]);
    });
}

/// Once a word is removed, the clock does not change it any more, because it may no longer exist.
#[test]
fn no_word_is_used_after_its_end() {
    check(|| {
        begin_process::<Light>();
        let clock = spawn(|| (0..3).for_each(|_| EPOCH.advance(LATER)));
        let threads = [(); 2].map(|()| {
            spawn(|| {
                let word = AtomicUsize::new(current());
                // SAFETY: the word exists until the end of this function.
                unsafe { assert!(EPOCH.words.add(&raw const word)) };
                spin_loop();
                EPOCH.words.remove(&raw const word);
                word.store(current(), SeqCst);
                (0..4).for_each(|_| spin_loop());
                assert_eq!(word.load(SeqCst), current());
            })
        });
        join(threads);
        join([clock]);
    });
}

/// Calls that start after a reset are counted, those that have returned before are not.
#[test]
fn reset_divides_the_calls() {
    const CALLS: u64 = 6;
    check(|| {
        let [a, _] = begin_process::<Light>();
        let known = Arc::new(Known::default());
        let thread = {
            let known = Arc::clone(&known);
            spawn(move || (0..CALLS).for_each(|_| known.call(a)))
        };
        spin_loop();
        let returned = known.returned.load(SeqCst);
        reset();
        let started = known.started.load(SeqCst);
        join([thread]);
        let read = read(a);
        assert!(
            CALLS - started <= read && read <= CALLS - returned,
            "{read} of {CALLS}, {returned} to {started} of them before the reset"
        );
    });
}

thread_local! {
    /// Younger than what the runtime keeps for a thread, and so, under Shuttle, dropped after it.
    static LAST: RefCell<Option<LastCall>> = const { RefCell::new(None) };
}

/// Calls when the thread has ended for the runtime.
struct LastCall(&'static Callsite);

impl Drop for LastCall {
    fn drop(&mut self) {
        assert!(thread::this().has_ended());
        call(self.0);
    }
}

/// A destructor calls a light function after its thread has ended, while others take the figures.
#[test]
fn call_after_the_end_of_its_thread_is_taken_once() {
    check(|| {
        let [a, _] = begin_process::<Light>();
        let threads = [1, 2].map(|calls| {
            spawn(move || {
                (0..calls).for_each(|_| call(a));
                LAST.with(|last| *last.borrow_mut() = Some(LastCall(a)));
            })
        });
        let taken = take(a) + take(a);
        join(threads);
        assert_eq!(taken + take(a), 5);
    });
}
