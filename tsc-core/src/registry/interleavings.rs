//! What threads may do to each other through the registry, in as many orders as Shuttle tries: `.ci/more/interleavings` runs these.
//!
//! All processes that a test begins are this one. So before each, the statics are what they are when a process begins.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use shuttle::thread::{JoinHandle, spawn};

use super::*;
use crate::probe::empty_calls::{Light, ProbeKind};
use crate::probe::light::LightProbe;
use crate::probe::section::Section;
use crate::probe::{Probe, Slot};
use crate::record::callsite::{REGISTERED, meta};
use crate::record::light::Frame;
use crate::sync::scheduled::alone;
use crate::sync::{check, spin_loop, thread_local};
use crate::tsc::Lfence;

/// The numbers of callsites begin here, so that the rows of light probes must grow for the second one of a process.
const FIRST_NUMBER: u32 = 14;

pub(super) fn check(scenario: fn()) {
    // What a probe costs is only measured once.
    let calibrate = || {
        call(begin_process::<Lfence>()[0]);
        call(begin_process::<Light>()[0]);
    };
    check::check(calibrate, scenario);
}

/// A process that has not called anything yet, and the callsites that it has.
pub(super) fn begin_process<K: ProbeKind>() -> [&'static Callsite; 2] {
    start_from_zero();
    do_what_was_put_off();
    NUMBERS.store(FIRST_NUMBER, SeqCst);
    REGISTERED.store(std::ptr::null_mut(), SeqCst);
    RECORDS.store(0, SeqCst);
    PAUSED.store(false, SeqCst);
    ["a", "b"].map(|name| {
        let meta = meta(&(), module_path!(), line!()).named(name);
        &*Box::leak(Box::new(Callsite::new::<K>(meta)))
    })
}

pub(super) fn call(callsite: &'static Callsite) {
    if callsite.is_light() {
        let frame = Frame::new();
        let _probe = LightProbe::start(callsite, &frame);
    } else {
        let mut slot = Slot::new();
        let _probe = Probe::<Lfence>::start(callsite, &mut slot);
    }
}

pub(super) fn in_figures(figures: &Recorded, of: &'static Callsite) -> u64 {
    let rows = figures.callsites.iter();
    let mut rows = rows.filter(|(callsite, _)| std::ptr::eq(*callsite, of));
    let calls = rows.next().map_or(0, |(_, totals)| totals.sums.calls());
    assert!(rows.next().is_none(), "a callsite has one number");
    calls
}

/// What a test itself knows of the calls of one callsite.
#[derive(Default)]
pub(super) struct Known {
    pub(super) started: AtomicU64,
    pub(super) returned: AtomicU64,
}

impl Known {
    pub(super) fn call(&self, callsite: &'static Callsite) {
        self.started.fetch_add(1, SeqCst);
        call(callsite);
        self.returned.fetch_add(1, SeqCst);
    }
}

pub(super) fn read(of: &'static Callsite) -> u64 {
    in_figures(&figures().expect("not in the cold path"), of)
}

pub(super) fn take(of: &'static Callsite) -> u64 {
    let figures = take_figures().expect("not in the cold path");
    assert_eq!(figures.unrecorded, 0);
    in_figures(&figures, of)
}

pub(super) fn join<const N: usize>(threads: [JoinHandle<()>; N]) {
    for thread in threads {
        thread.join().expect("it has not panicked");
    }
}

/// Threads begin, call and end while `next` makes the figures of all calls so far from what they were the last time.
fn keep_up<K: ProbeKind>(next: fn(&'static Callsite, u64) -> u64) {
    let [a, b] = begin_process::<K>();
    let known = Arc::new(Known::default());
    let threads = [2, 3].map(|calls| {
        let known = Arc::clone(&known);
        spawn(move || {
            call(b);
            (0..calls).for_each(|_| known.call(a));
        })
    });
    let mut figures = 0;
    // Until the threads have ended, mostly.
    for _ in 0..6 {
        spin_loop();
        let returned = known.returned.load(SeqCst);
        figures = next(a, figures);
        let started = known.started.load(SeqCst);
        assert!(
            returned <= figures && figures <= started,
            "{returned} calls had returned, {figures} were read, {started} had started"
        );
    }
    join(threads);
    assert_eq!(next(a, figures), 5);
}

#[test]
fn every_read_has_the_calls_that_have_returned_and_no_others() {
    check(|| keep_up::<Lfence>(|of, _| read(of)));
    check(|| keep_up::<Light>(|of, _| read(of)));
}

#[test]
fn every_take_has_the_calls_that_have_returned_and_no_others() {
    check(|| keep_up::<Lfence>(|of, taken| taken + take(of)));
    check(|| keep_up::<Light>(|of, taken| taken + take(of)));
}

/// Several threads take figures: a call is in one of them.
fn take_every_call<K: ProbeKind>() {
    let [a, b] = begin_process::<K>();
    let threads = [(2, 1), (1, 3)].map(|(before, after)| {
        spawn(move || {
            (0..before).for_each(|_| call(a));
            call(b);
            (0..after).for_each(|_| call(a));
        })
    });
    let taken_there = Arc::new(AtomicU64::new(0));
    let taker = {
        let taken = Arc::clone(&taken_there);
        spawn(move || _ = taken.fetch_add(take(a), SeqCst))
    };
    let taken_here = take(a) + take(a);
    join(threads);
    join([taker]);
    assert_eq!(taken_here + taken_there.load(SeqCst) + take(a), 7);
    assert_eq!(take(a), 0);
}

#[test]
fn every_call_is_taken_once() {
    check(take_every_call::<Lfence>);
    check(take_every_call::<Light>);
}

struct Held(Section<Lfence>, &'static Callsite);

thread_local! {
    /// Younger than what the runtime keeps for a thread, and so, under Shuttle, dropped after it.
    static HELD: RefCell<Option<HeldSection>> = const { RefCell::new(None) };
}

/// Stops its section when the thread has ended for the runtime, and calls once more.
struct HeldSection(Option<Held>);

impl Drop for HeldSection {
    fn drop(&mut self) {
        assert!(thread::this().has_ended());
        if let Some(Held(section, callsite)) = self.0.take() {
            section.stop();
            call(callsite);
        }
    }
}

/// A section outlives its thread while others take the figures.
#[test]
fn section_of_a_thread_that_ends_is_taken_once() {
    check(|| {
        let [a, b] = begin_process::<Lfence>();
        let thread = spawn(move || {
            call(a);
            let section = Section::start(b);
            HELD.with(|held| *held.borrow_mut() = Some(HeldSection(Some(Held(section, a)))));
        });
        let taken = Arc::new(Mutex::new((0, 0)));
        let take_both = move || {
            let figures = take_figures().expect("not in the cold path");
            (in_figures(&figures, a), in_figures(&figures, b))
        };
        let taker = {
            let taken = Arc::clone(&taken);
            spawn(move || {
                let both = take_both();
                *taken.lock().unwrap() = both;
            })
        };
        let here = take_both();
        join([thread, taker]);
        let (there, rest) = (*taken.lock().unwrap(), take_both());
        assert_eq!(here.0 + there.0 + rest.0, 2);
        assert_eq!(here.1 + there.1 + rest.1, 1);
    });
}

/// Only the thread that forks exists in the child, and the others may have held any lock.
#[test]
fn child_of_a_fork_starts_from_zero_and_waits_for_nobody() {
    check(|| {
        let [a, b] = begin_process::<Lfence>();
        let threads = [1, 2].map(|calls| {
            spawn(move || {
                (0..calls).for_each(|_| call(a));
                take(b);
            })
        });
        call(b);
        alone(|| {
            let (parents, registered) = (registry(), REGISTERED.load(SeqCst));
            start_from_zero();
            assert_eq!((read(a), read(b)), (0, 0));
            // As in the parent, where its record is.
            call(b);
            call(a);
            call(a);
            assert_eq!((read(a), read(b)), (2, 1));
            assert_eq!((take(a), take(b)), (2, 0));
            call(b);
            assert_eq!((read(a), read(b)), (0, 1));
            // Only memory that the parent does not see was written.
            REGISTRY.put_back(parents);
            REGISTERED.store(registered, SeqCst);
            thread::this().invalidate();
        });
        join(threads);
    });
}

/// Calls between the end of a pause's request and the resumption are not recorded, calls that meet neither are.
fn pause_while_calls_are_made<K: ProbeKind>() {
    const CALLS: u64 = 8;
    let [a, _] = begin_process::<K>();
    // How many of the requests to pause and to resume have begun or ended.
    let requests = Arc::new(AtomicU64::new(0));
    let known = Arc::new(Known::default());
    let thread = {
        let (requests, known) = (Arc::clone(&requests), Arc::clone(&known));
        spawn(move || {
            let mut bounds = [0, 0];
            for _ in 0..CALLS {
                let before = requests.load(SeqCst);
                known.call(a);
                let [least, most] = match (before, requests.load(SeqCst)) {
                    (0, 0) | (4, 4) => [1, 1],
                    (2, 2) => [0, 0],
                    _ => [0, 1],
                };
                bounds = [bounds[0] + least, bounds[1] + most];
            }
            bounds
        })
    };
    let request = |make: fn()| {
        requests.fetch_add(1, SeqCst);
        make();
        requests.fetch_add(1, SeqCst);
    };
    request(pause);
    // The next call may have begun before.
    let enough = (known.returned.load(SeqCst) + 3).min(CALLS);
    while known.returned.load(SeqCst) < enough {
        spin_loop();
    }
    request(resume);
    let [least, most] = thread.join().expect("it has not panicked");
    let read = read(a);
    assert!(least <= read && read <= most, "{least} <= {read} <= {most}");
}

#[test]
fn pause_holds_for_all_calls_that_start_after_it() {
    check(pause_while_calls_are_made::<Lfence>);
    check(pause_while_calls_are_made::<Light>);
}
