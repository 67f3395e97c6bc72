//! What a check of the light probes finds: that the clock has ticked, or that the thread was off the CPU.

use std::sync::atomic::AtomicI64;

use crate::interruption::Seen;
use crate::on_cpu;
use crate::process::Errno;
use crate::record::light::{self, Lengths, LightThread, Rest};
use crate::record::thread::{self, Thread};
use crate::registry::is_paused;
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::tick_clock;

/// CPU time in ticks of threads that have ended before a tick could give it to a function. The first tick of another thread takes it, so that
/// functions on many short-lived threads get their share.
static LEFT_BEHIND: AtomicI64 = AtomicI64::new(0);
/// The part of it since the threads' last ticks is apart.
static LEFT_SINCE_TICK: AtomicI64 = AtomicI64::new(0);

/// Whether time off the CPU of some thread could not be divided into blocked and waiting.
pub(super) static UNSPLIT: AtomicBool = AtomicBool::new(false);

pub(in crate::registry) fn take_left_behind() -> Rest {
    Rest {
        since_tick: LEFT_SINCE_TICK.swap(0, Relaxed),
        pending: LEFT_BEHIND.swap(0, Relaxed),
    }
}

/// Whether light functions have time off the CPU that is not divided into blocked and waiting.
pub(crate) fn is_unsplit() -> bool {
    UNSPLIT.load(Relaxed)
}

/// Finds out what has happened since the last check, and adds it to the figures of the innermost function. Does nothing if nothing has
/// happened, or inside the runtime's own work.
pub(crate) fn check_light(light: &LightThread) {
    if light.is_current() || light.paths().is_none() {
        return;
    }
    let thread = thread::this();
    if let Some(_busy) = thread.enter_cold_path() {
        pass(light, thread, false);
    }
}

/// Called in the cold path before the runtime's own work: what has happened until now is the innermost function's.
pub(in crate::registry) fn begin_own_work(thread: &Thread) {
    pass(light::this(), thread, false);
}

/// Called in the cold path after the runtime's own work, whose time is no function's.
pub(in crate::registry) fn end_own_work(thread: &Thread) {
    pass(light::this(), thread, true);
}

fn pass(light: &LightThread, thread: &Thread, is_own_work: bool) {
    if light.paths().is_some() {
        settle(light, thread, is_own_work);
        light.account.leave(on_cpu::now());
    }
}

/// The last check of a thread that ends. The CPU time that no tick has given to a function is left to other threads, or given to `divide`.
pub(in crate::registry) fn end_light(
    light: &LightThread,
    thread: &Thread,
    divide: impl FnOnce(i64),
) {
    if light.paths().is_some() {
        settle(light, thread, false);
        let rest = light.account.rest();
        if light.account.has_ticked_often() {
            divide(rest.since_tick + rest.pending);
        } else {
            LEFT_SINCE_TICK.fetch_add(rest.since_tick, Relaxed);
            LEFT_BEHIND.fetch_add(rest.pending, Relaxed);
        }
    }
    light.end();
}

fn settle(light: &LightThread, thread: &Thread, is_own_work: bool) {
    let account = &light.account;
    let _errno = Errno::save();
    // Armed before the clocks are read: what happens in between is found by the next check.
    let seen = light.arm(&thread.detector);
    let tick = tick_clock::epoch().last();
    let noticed = account.notice(tick);
    let ticks = tick.wrapping_sub(noticed);
    let new = tick_clock::epoch().since(noticed, tick);
    if new.is_some() || seen != Seen::Armed {
        tick_clock::note_noticed(ticks);
    }
    let Some(passed) = thread.passed(seen, new) else {
        return;
    };
    if account.is_paused(is_paused()) || is_own_work {
        account.skip(passed.now);
        return;
    }
    let (Some(paths), Some(us)) = (light.paths(), on_cpu::ticks_per_us()) else {
        return;
    };
    let lengths = Lengths::new(
        us,
        tick_clock::wake_up_us(),
        tick_clock::epoch().interval(tick),
    );
    if passed.loss.off > 0 && !passed.loss.is_split {
        UNSPLIT.store(true, Relaxed);
    }
    // SAFETY: the frame is this thread's innermost one, and the frames have places in no other paths.
    let place = unsafe { paths.place_of(light.innermost()) };
    let usual = paths.usual(place);
    let since = account.checked();
    let is_outside = light.innermost().is_null();
    let sums = account.settle(passed, lengths, usual, is_outside, take_left_behind);
    paths.add(place, &sums);
    if light.is_without_timed_frame() && !is_outside {
        // The timed call is around it. These ticks are not its own, and this loss neither.
        thread.add_work(sums.on_cpu);
        thread.on_cpu.claim_since(since, sums.off);
    }
    if sums.ticks != 0 {
        tick_clock::note_given(ticks);
    }
}
