//! The innermost running call of a thread, and what it needs of the calls that it makes.

use core::cell::Cell;

/// A running call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Caller {
    /// A call that it makes may be timed if at most this many calls of the callsite, including this one, are left until the next timed one:
    /// 2, for that one and its warm-up, or the largest number if all are timed.
    most: u32,
    /// The calls that it has made and that were timed for its self ticks.
    pub(crate) callees: u32,
    /// The ticks that these have added to the thread's net ticks, so that the increase is exactly their time.
    pub(crate) added: i64,
}

impl Caller {
    const fn new(times_callees: bool) -> Self {
        Self {
            most: if times_callees { u32::MAX } else { 2 },
            callees: 0,
            added: 0,
        }
    }

    /// Whether all calls that it makes are timed.
    pub(crate) const fn times_callees(self) -> bool {
        self.most == u32::MAX
    }
}

/// The innermost running call of a thread.
#[derive(Debug)]
pub(crate) struct Innermost(Cell<Caller>);

impl Innermost {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(Caller::new(false)))
    }

    /// Whether a call that starts now may be timed. `skip` calls of its callsite, including this one, are left until the next timed one.
    #[inline(always)]
    pub(crate) fn is_due(&self, skip: u32) -> bool {
        skip <= self.0.get().most
    }

    /// Whether all calls that start now are timed, because the call that makes them stands for several.
    pub(crate) fn times_callees(&self) -> bool {
        self.0.get().times_callees()
    }

    /// A timed call starts. Returns the call around it.
    pub(crate) fn enter(&self, times_callees: bool) -> Caller {
        self.0.replace(Caller::new(times_callees))
    }

    /// The call stops. Returns its state; the call around it is the innermost one again.
    pub(crate) fn leave(&self, around: Caller) -> Caller {
        self.0.replace(around)
    }

    /// Called after [`leave`](Self::leave): the call's time was `net`, and the thread's net ticks have increased by `estimate`. Returns what
    /// must be added to them for the caller.
    pub(crate) fn complete(&self, net: i64, estimate: i64) -> i64 {
        let mut caller = self.0.get();
        if !caller.times_callees() {
            return 0;
        }
        let missing = net.wrapping_sub(estimate);
        caller.added = caller.added.wrapping_add(missing);
        caller.callees = caller.callees.saturating_add(1);
        self.0.set(caller);
        missing
    }
}
