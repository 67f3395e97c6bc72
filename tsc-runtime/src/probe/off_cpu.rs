//! The time that a call has lost off the CPU, found at its stop: see [`on_cpu`](crate::on_cpu).

use crate::on_cpu::{self, Answer, Inside, Loss};
use crate::record::thread::Thread;
use crate::tsc::{Ticks, elapsed};

/// The rest of the work, for when the call is recorded.
#[must_use]
pub(super) struct AfterCall(Option<Rest>);

struct Rest {
    /// When the search for the loss began. The time that it takes is overhead.
    began: Ticks,
    /// The kernel's answer, and the part of the loss that lies after the call.
    answer: Option<(Answer, Loss)>,
}

/// Called at a stop `raw` ticks after `start`, with the running overhead of that start in `overhead_then`. Asks the kernel what was lost if
/// the detector was cleared. In the cold path it does not ask, because the end of the cold path asks for everything that was lost in it.
pub(super) fn find_loss(thread: &Thread, start: Ticks, overhead_then: u64, raw: i64) -> AfterCall {
    if thread.is_busy() || !thread.detector.arm() {
        return AfterCall(None);
    }
    let began = on_cpu::now();
    // The thread may have been interrupted after the counter was read. A call cannot lose more than it took.
    let known = thread.overhead.get().wrapping_sub(overhead_then);
    let room = raw.wrapping_sub(known.cast_signed());
    if let Some(loss) = thread.on_cpu.take_for_lost(start, room) {
        thread.on_cpu.add(began, loss);
        thread.add_overhead(loss.off);
        return AfterCall(Some(Rest {
            began,
            answer: None,
        }));
    }
    let Some(answer) = thread.on_cpu.ask() else {
        return AfterCall(None);
    };
    thread.on_cpu.asked_by_call(room);
    let (inside, after) = answer.loss.split_at(room);
    thread.on_cpu.add(answer.at, inside);
    thread.add_overhead(inside.off);
    AfterCall(Some(Rest {
        began,
        answer: Some((answer, after)),
    }))
}

/// The loss of a call that stops now; it started at `start`, with the running overhead at `overhead_then`. The loss becomes one of the
/// calls around it.
pub(super) fn claim(thread: &Thread, start: Ticks, overhead_then: u64) -> Inside {
    at_most_overhead(thread.on_cpu.claim_since(start), thread, overhead_then)
}

/// The same loss, without changing whose it is.
pub(super) fn look_at(thread: &Thread, start: Ticks, overhead_then: u64) -> Inside {
    at_most_overhead(thread.on_cpu.lost_since(start), thread, overhead_then)
}

/// Losses that were joined are divided in proportion to time. The running overhead, of which they are a part, is exact.
fn at_most_overhead(inside: Inside, thread: &Thread, overhead_then: u64) -> Inside {
    let overhead = thread.overhead.get().wrapping_sub(overhead_then);
    let (loss, _) = inside.loss.split_at(overhead.cast_signed());
    Inside {
        loss,
        own: inside.own.min(loss.off),
    }
}

impl AfterCall {
    /// Called when the call is recorded: the rest of the loss, and the time for finding it, belong to the caller.
    pub(super) fn settle(self, thread: &Thread) {
        let Some(Rest { began, answer }) = self.0 else {
            return;
        };
        let is_clean = thread.detector.is_armed();
        let Some((answer, after)) = answer else {
            if is_clean {
                thread.add_overhead(elapsed(began, on_cpu::now()));
            }
            return;
        };
        if after.off != 0 {
            thread.on_cpu.add(answer.at, after);
        }
        let cost = thread.on_cpu.cost_since(began, is_clean);
        thread.add_overhead(after.off.wrapping_add(cost));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::on_cpu::script;
    use crate::probe::polls::{FutureTotals, PollProbe};
    use crate::probe::section::Section;
    use crate::probe::{Probe, Slot};
    use crate::record::callsite::{Callsite, meta};
    use crate::record::histogram::bucket;
    use crate::record::thread;
    use crate::record::totals::Totals;
    use crate::registry;
    use crate::tsc::{Fence, FencePolicy, Ticks, Unfenced};

    thread_local! {
        /// Whether the thread is interrupted right after its next stop has read the counter, before the detector is checked.
        static INTERRUPTED_AFTER_STOP: Cell<bool> = const { Cell::new(false) };
    }

    /// Reads the simulated counter; before the simulation begins, the real one.
    #[derive(Debug)]
    struct Scripted;

    impl FencePolicy for Scripted {
        const FENCE: Fence = Fence::Unfenced;

        fn start() -> Ticks {
            script::now().unwrap_or_else(Unfenced::start)
        }

        fn stop() -> Ticks {
            let stop = Self::start();
            if INTERRUPTED_AFTER_STOP.take() {
                script::lose(5_000, 0);
            }
            stop
        }
    }

    fn callsite(name: &'static str) -> &'static Callsite {
        Box::leak(Box::new(Callsite::new::<Scripted>(
            meta(&(), module_path!(), line!()).named(name),
        )))
    }

    fn call(callsite: &'static Callsite, body: impl FnOnce()) {
        let mut slot = Slot::new();
        let _probe = Probe::<Scripted>::start(callsite, &mut slot);
        body();
    }

    fn poll(callsite: &'static Callsite, future: &mut FutureTotals, body: impl FnOnce()) {
        let mut slot = Slot::new();
        let _probe = PollProbe::<Scripted>::start(callsite, future, &mut slot);
        body();
    }

    /// Callsites whose first call has been made, on a thread that is simulated from here on.
    fn scripted<const N: usize>(names: [&'static str; N]) -> [&'static Callsite; N] {
        let callsites = names.map(callsite);
        for callsite in callsites {
            call(callsite, || {});
            // Only the simulation lets time pass; the probes cost nothing.
            let (_, record) = thread::this().find(callsite.position()).unwrap();
            for cost in [&record.visible, &record.cost, &record.nesting] {
                cost.set(0);
            }
        }
        script::begin();
        callsites
    }

    fn totals(callsite: &'static Callsite) -> Totals {
        registry::figures()
            .unwrap()
            .callsites
            .into_iter()
            .find(|(one, _)| core::ptr::eq(*one, callsite))
            .map(|(_, totals)| totals)
            .expect("the callsite was called")
    }

    /// Ticks on the CPU, blocked and waiting. The first call is left out, because it was measured with the real counter.
    fn inclusive(totals: &Totals) -> [i64; 3] {
        let on_cpu = totals.gross() - totals.first_sum - totals.inner_gross;
        [on_cpu, totals.off - totals.waiting, totals.waiting]
    }

    #[test]
    fn loss_is_inclusive_in_all_callers_and_own_in_one() {
        let [outer, sleeper, worker] = scripted(["outer", "sleeper", "worker"]);
        for _ in 0..3 {
            call(outer, || {
                script::run(1_000);
                call(sleeper, || {
                    script::run(50);
                    script::lose(800_000, 30_000);
                });
                call(worker, || script::run(400_000));
                script::lose(7_000, 7_000);
                // A start finds this loss. It belongs to the outer call.
                call(worker, || script::run(400_000));
            });
        }
        let [outer, sleeper, worker] = [outer, sleeper, worker].map(totals);
        assert_eq!(inclusive(&sleeper), [150, 2_310_000, 90_000]);
        assert_eq!(inclusive(&worker), [2_400_000, 0, 0]);
        assert_eq!(inclusive(&outer), [2_403_150, 2_310_000, 111_000]);
        assert_eq!(
            [outer.own_off, sleeper.own_off, worker.own_off],
            [21_000, 2_400_000, 0]
        );
        assert_eq!(outer.callees, 2_400_150);
        // The probes cost nothing.
        assert_eq!((outer.nested, sleeper.nested), (0, 0));
        // After one switch, 50 ticks on the CPU are too uncertain. After two, a million is enough.
        assert_eq!((sleeper.repaired, sleeper.excluded), (0, 3));
        assert_eq!((outer.repaired, outer.excluded), (3, 0));
        assert_eq!((outer.max, outer.min), (Some(801_050), Some(801_050)));
        let wall: Vec<_> = outer.wall_histogram().unwrap().buckets().collect();
        let (octave, sub) = bucket(1_608_050);
        assert_eq!(wall, [(octave, sub, 3)]);
    }

    #[test]
    fn nothing_that_was_lost_between_calls_is_theirs() {
        let [function] = scripted(["between losses"]);
        for _ in 0..10 {
            script::lose(1_000_000, 0);
            script::run(10);
            call(function, || script::run(500));
        }
        let totals = totals(function);
        assert_eq!(inclusive(&totals), [5_000, 0, 0]);
        assert_eq!((totals.samples, totals.excluded), (10, 0));
    }

    #[test]
    fn call_loses_no_more_than_it_took() {
        let [outer, inner] = scripted(["around the interrupted stop", "interrupted at its stop"]);
        call(outer, || {
            call(inner, || {
                script::run(100);
                INTERRUPTED_AFTER_STOP.set(true);
            });
        });
        let [outer, inner] = [outer, inner].map(totals);
        assert_eq!(inclusive(&inner), [0, 100, 0]);
        assert_eq!(inclusive(&outer), [100, 5_000, 0]);
        assert_eq!((inner.own_off, outer.own_off), (100, 4_900));
    }

    /// Interruptions every few microseconds: the kernel is asked only now and then, and the sums are still right.
    #[test]
    fn thick_interruptions_are_asked_for_together() {
        let [function] = scripted(["ping"]);
        let before = script::askings();
        for _ in 0..1_000 {
            call(function, || {
                script::run(1_000);
                script::lose(3_000, 1_000);
            });
        }
        let askings = script::askings() - before;
        // Once in each 50 µs of these 4 ms.
        assert!((70..90).contains(&askings), "{askings}");
        // The last request was before the last few calls. The loss of these calls is assumed to be that of the others.
        let totals = totals(function);
        assert_eq!(inclusive(&totals), [1_000_000, 2_000_000, 1_000_000]);
        assert_eq!((totals.own_off, totals.excluded), (3_000_000, 1_000));
    }

    #[test]
    fn recursion_counts_a_loss_once() {
        let [function] = scripted(["recursive loss"]);
        fn recurse(function: &'static Callsite, depth: u32) {
            call(function, || {
                script::run(10);
                if depth == 0 {
                    script::lose(9_000, 1_000);
                } else {
                    recurse(function, depth - 1);
                }
            });
        }
        recurse(function, 4);
        let totals = totals(function);
        assert_eq!(inclusive(&totals), [50, 8_000, 1_000]);
        assert_eq!((totals.own_off, totals.excluded), (9_000, 5));
    }

    #[test]
    #[cfg_attr(
        target_family = "wasm",
        ignore = "there are no threads, so this one has followed other tests' scripts"
    )]
    fn suspended_future_is_neither_blocked_nor_waiting() {
        let [function] = scripted(["future"]);
        let mut future = FutureTotals::new();
        poll(function, &mut future, || script::run(300));
        // The thread sleeps between the polls.
        script::lose(1_000_000, 0);
        poll(function, &mut future, || {
            script::run(300_000);
            script::lose(40_000, 40_000);
        });
        script::lose(1_000_000, 0);
        poll(function, &mut future, || script::run(300));
        future.complete(function);
        let totals = totals(function);
        // The first call was not a future, so the ticks are only those of the polls.
        assert_eq!(totals.polls_gross, 300_600);
        assert_eq!((totals.off, totals.waiting), (40_000, 40_000));
        assert_eq!((totals.repaired, totals.max), (1, Some(300_600)));
    }

    #[test]
    fn section_sees_what_was_lost_in_it_and_leaves_it_to_the_function() {
        let [function, section] = scripted(["around a section", "section"]);
        call(function, || {
            script::lose(500, 0);
            let section = Section::<Scripted>::start(section);
            script::run(250_000);
            script::lose(2_000, 500);
            section.stop();
        });
        let [function, section] = [function, section].map(totals);
        assert_eq!(inclusive(&section), [250_000, 1_500, 500]);
        assert_eq!(inclusive(&function), [250_000, 2_000, 500]);
        assert_eq!(function.own_off, 2_500);
        assert_eq!((section.repaired, section.excluded), (1, 0));
    }

    #[test]
    fn without_statistics_the_loss_is_known_and_not_its_kind() {
        let [function] = scripted(["unsplit"]);
        script::keep_no_statistics();
        call(function, || script::lose(900, 100));
        let totals = totals(function);
        assert_eq!((totals.off, totals.unsplit, totals.unasked), (900, 1, 0));
    }
}
