//! The time that a thread spends in the registry and on reports. It is overhead for the calls that are running, kept apart from the probes'
//! overhead: their records note it until the outermost call of each stops.

use super::{busy_with, in_cold_path, light};
use crate::on_cpu;
use crate::process::{Errno, cpu_time};
use crate::record::Sums;
use crate::record::table::Entry;
use crate::record::thread::{self, Thread};
use crate::tsc::{Ticks, clock, elapsed};

/// The time at which a cold path begins. What the thread has lost until now belongs to the running call.
pub(crate) fn begin_cold_path(thread: &Thread) -> Ticks {
    thread.rearm();
    clock::now()
}

/// The time since `began`, in the cold path, is overhead for the running calls, but not of a probe. The thread's sums were `before` then: what
/// calls have added that were made since, as in an annotated allocator, is part of that time.
pub(super) fn add_registration_cost(thread: &Thread, began: Ticks, before: Sums) {
    let now = clock::now();
    let spent = thread.cold_path_ticks(now.wrapping_sub(began));
    before.restore(thread);
    thread.note_loss_before(began, now);
    thread.add_overhead(spent.cast_signed());
    let is_running = |entry: &Entry| entry.depth() != 0;
    thread.for_each_wanted(is_running, |record| record.note_registration(spent));
    thread.detector.note(now);
}

/// Calls `register`, whose CPU time is not the program's. A report asks for that time in any case, but a sandbox may kill a process that asks
/// here.
pub(super) fn as_registration<T>(register: impl FnOnce() -> T) -> T {
    match on_cpu::unavailable() {
        None => cpu_time::apart(register),
        Some(_) => register(),
    }
}

/// Calls `f`, which takes no time of the calls around it, whatever it measures itself.
pub(crate) fn as_overhead<T>(thread: &Thread, f: impl FnOnce() -> T) -> T {
    let began = begin_cold_path(thread);
    let before = Sums::of(thread);
    let result = f();
    let end = clock::now();
    before.restore(thread);
    thread.on_cpu.forget_since(began);
    thread.add_overhead(elapsed(began, end).max(0));
    thread.note_loss_before(began, end);
    result
}

/// The same where a light probe finds a tick: its time is that of no function either. Does nothing inside the runtime's own work.
pub(crate) fn as_own_work(f: impl FnOnce()) {
    let _errno = Errno::save();
    busy_with(|thread| {
        light::begin_own_work(thread);
        as_overhead(thread, || as_registration(f));
        light::end_own_work(thread);
    });
}

/// The same for a report: its time is that of no function, and for timed calls like that of registrations.
pub(crate) fn as_report<T>(collect: impl FnOnce() -> T) -> T {
    busy_with(light::begin_own_work);
    let began = begin_cold_path(thread::this());
    let before = Sums::of(thread::this());
    let collected = cpu_time::apart(collect);
    in_cold_path(|thread| {
        thread.on_cpu.forget_since(began);
        add_registration_cost(thread, began, before);
        light::end_own_work(thread);
    });
    collected
}
