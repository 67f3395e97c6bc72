//! Futures: each poll is measured like a call, and the sum of a future's polls is recorded as one call when the future is done.
//!
//! The sums (ticks, polls, nested overhead) are added to the polling thread's record at each poll, so that they are right while futures are
//! suspended. The sample is added to the record of the thread that completes the future.

use super::slowest;
use super::stop::{Activation, Cost};
use super::unusual::{finish_placed_poll, stop_untimed};
use super::{Guard, Sink, Slot, Started};
use crate::record::callsite::Callsite;
use crate::record::slowest::SlowCall;
use crate::record::{Exclusion, Record, Settled, thread};
use crate::tsc::{Ticks, clock, elapsed};
use crate::{hooks, on_cpu, registry};

/// The sums of a future's polls so far.
#[derive(Debug)]
#[repr(C)] // without gaps, also with `-Z randomize-layout`
pub struct FutureTotals {
    /// On the CPU and blocked.
    net: i64,
    /// When the first measured poll started.
    since: Ticks,
    /// Measured polls.
    polls: u32,
    /// How often the thread came back to a CPU during the polls; the largest number if it is unknown.
    switches: u16,
    /// The gravest thing that happened to one of the polls.
    unusual: Option<Exclusion>,
}

const _: () = assert!(size_of::<FutureTotals>() <= 24);

/// The measurement of one running poll.
pub(crate) type PollProbe<'a, P> = Guard<'a, P, &'a mut FutureTotals>;

impl Sink for &mut FutureTotals {
    #[inline(always)]
    fn finish(&mut self, started: &Started, stop: Ticks) {
        finish_poll(started, stop, self);
    }

    #[inline(always)]
    fn finish_untimed(&mut self, slot: &Slot) {
        finish_untimed_poll(slot, self);
    }
}

/// The stop of a poll that the inlined reads have not timed.
#[cold]
#[inline(never)]
extern "C" fn finish_untimed_poll(slot: &Slot, call: &mut FutureTotals) {
    stop_untimed(slot, |started, stop| finish_poll(started, stop, call));
}

/// Adds a poll to this thread's record and to `call`.
#[inline(never)]
extern "C" fn finish_poll(started: &Started, stop: Ticks, call: &mut FutureTotals) {
    started.note_panic();
    finish_placed_poll(started, || call.add(started, stop));
}

impl FutureTotals {
    /// The account of a future that was not polled yet.
    pub(crate) const fn new() -> Self {
        Self {
            net: 0,
            since: 0,
            polls: 0,
            switches: 0,
            unusual: None,
        }
    }

    fn add(&mut self, started: &Started, stop: Ticks) {
        let poll = Activation::of(started);
        if self.polls == 0 {
            self.since = poll.start;
        }
        self.polls = self.polls.saturating_add(1);
        poll.stop(elapsed(poll.start, stop), |cost| self.add_cost(&poll, cost));
    }

    fn add_cost(&mut self, poll: &Activation<'_>, cost: &Cost) {
        self.unusual = self.unusual.max(cost.unusual);
        if cost.unusual == Some(Exclusion::Anomalous) {
            // The poll has only its own overhead, which the report subtracts.
            return poll.record.leave_poll(poll.record.visible.get(), 0, 0);
        }
        if cost.unusual == Some(Exclusion::Interrupted) {
            let switches = cost.switches(poll).and_then(|of| u16::try_from(of).ok());
            self.switches = self.switches.saturating_add(switches.unwrap_or(u16::MAX));
        }
        let Settled { gross, nested, .. } = cost.ticks;
        poll.record.leave_poll(gross, cost.loss.blocked(), nested);
        self.net = self.net.wrapping_add(cost.net_sample());
    }

    fn is_repaired(&self) -> bool {
        self.switches != u16::MAX && on_cpu::is_certain(self.net, 0, u32::from(self.switches))
    }

    /// Called when the future has completed: records its polls as one call.
    pub(crate) fn complete(&mut self, callsite: &'static Callsite) {
        self.end(callsite, |record, call| {
            let end = clock::now();
            let wall = elapsed(call.since, end).max(0);
            // Stored as if a single probe had seen it all, because the report subtracts one visible overhead from each sample.
            let gross = call.net.cast_unsigned().wrapping_add(record.visible.get());
            let is_repaired = call.is_repaired();
            record.complete(call.unusual, gross, wall.cast_unsigned(), is_repaired);
            let thread = thread::this();
            if let Some(contexts) = thread.contexts() {
                contexts.count(record.id, &record.last_place);
            }
            if call.unusual != Some(Exclusion::Anomalous) && record.is_slow(wall) {
                // What was lost in the polls is not summed up, because a future is to be small.
                let slow = SlowCall {
                    begin: call.since,
                    end,
                    ticks: wall,
                    on_cpu: call.unusual.is_none().then_some(call.net),
                    ..SlowCall::default()
                };
                slowest::keep(record, thread, slow);
            }
        });
    }

    /// Called when the future is dropped. Does nothing after [`complete`](Self::complete); otherwise the future was dropped before it
    /// completed.
    pub(crate) fn cancel(&mut self, callsite: &'static Callsite) {
        self.end(callsite, |record, _| record.counters.cancelled.add(1));
    }

    fn end(&mut self, callsite: &'static Callsite, end: impl FnOnce(&Record, &Self)) {
        if self.polls == 0 {
            return;
        }
        registry::as_overhead(thread::this(), || {
            registry::with_record(callsite, hooks::install, |record| end(record, self));
        });
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::callsite::meta;
    use crate::tsc::Lfence;
    use tsc_report::CallsiteSums;

    macro_rules! callsite {
        ($name:literal) => {{
            static CALLSITE: Callsite =
                Callsite::new::<Lfence>(meta(&(), module_path!(), line!()).named($name));
            &CALLSITE
        }};
    }

    fn poll(callsite: &'static Callsite, call: &mut FutureTotals, body: impl FnOnce()) {
        let mut slot = Slot::new();
        let _probe = PollProbe::<Lfence>::begin(callsite, &mut slot, call);
        body();
    }

    fn sums(callsite: &'static Callsite) -> CallsiteSums {
        let found = registry::figures()
            .unwrap()
            .callsites
            .into_iter()
            .find(|(one, _)| core::ptr::eq(*one, callsite));
        found.map(|(_, totals)| totals.sums).unwrap_or_default()
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "there are no threads")]
    fn call_that_moves_between_threads_is_one_call() {
        let callsite = callsite!("moves");
        let mut call = FutureTotals::new();
        poll(callsite, &mut call, || {});
        let suspended = sums(callsite);
        assert_eq!(
            (suspended.calls(), suspended.polls, suspended.cancelled),
            (0, 1, 0)
        );
        std::thread::spawn(move || {
            poll(callsite, &mut call, || {});
            call.complete(callsite);
            call.cancel(callsite);
        })
        .join()
        .unwrap();
        let done = sums(callsite);
        assert_eq!((done.calls(), done.polls, done.cancelled), (1, 2, 0));
        assert_eq!(done.threads, 2);
    }

    #[test]
    fn dropped_future_keeps_its_ticks() {
        let callsite = callsite!("dropped");
        for _ in 0..100 {
            let mut call = FutureTotals::new();
            // The poll works, because in a sleep it would be off the CPU and leave hardly any ticks. One alone may lose its CPU all the same.
            poll(callsite, &mut call, || {
                (0..1_000).for_each(|turn| _ = std::hint::black_box(turn));
            });
            call.cancel(callsite);
        }
        FutureTotals::new().cancel(callsite);
        let sums = sums(callsite);
        assert_eq!((sums.calls(), sums.polls, sums.cancelled), (0, 100, 100));
        assert!(sums.gross() > 0);
    }

    #[test]
    fn poll_within_a_poll_is_left_out_of_the_inclusive_total() {
        let callsite = callsite!("recursive");
        let (mut outer, mut inner) = (FutureTotals::new(), FutureTotals::new());
        poll(callsite, &mut outer, || {
            poll(callsite, &mut inner, || {});
            inner.complete(callsite);
        });
        outer.complete(callsite);
        let sums = sums(callsite);
        assert_eq!(
            (sums.calls(), sums.polls, sums.inner, sums.firsts),
            (2, 2, 1, 1)
        );
        assert!(sums.inner_gross <= sums.gross());
    }

    #[test]
    fn sample_is_what_all_polls_come_to() {
        let callsite = callsite!("sample");
        for _ in 0..2 {
            let mut call = FutureTotals::new();
            for _ in 0..10 {
                poll(callsite, &mut call, || {});
            }
            call.complete(callsite);
        }
        let sums = sums(callsite);
        let sampled = sums.sum + sums.first_sum + sums.excluded_sum;
        assert_eq!((sums.calls(), sums.polls), (2, 20));
        // The ticks of the polls contain the visible overhead of each poll; a sample contains one.
        assert!(sums.gross() >= sampled, "{} of {}", sampled, sums.gross());
    }
}
