//! What a start hands to its stop.

use core::cell::Cell;
use core::marker::PhantomPinned;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use crate::events::CountedCall;
use crate::record::light::{Frame, Place};
use crate::record::thread::Thread;
use crate::record::{Record, Sums};
use crate::tsc::{Ticks, clock};

/// Space on the annotated function's stack for the values that a start hands to its stop. A probe only borrows it: if the probe contained
/// it, each start would copy it.
///
/// A start writes what its kind of call needs, and nothing more.
#[derive(Debug)]
#[repr(C)]
pub struct Slot {
    /// The record of a timed call. Null for all others, of which `untimed` says what they are.
    record: MaybeUninit<*const Record>,
    /// The thread's running sums at the start. The two are not neighbours, neither here nor in [`Thread`]: otherwise the compiler would
    /// copy both with one load of 16 bytes, and such a load stalls if it spans two recent stores.
    overhead: Cell<MaybeUninit<u64>>,
    start: MaybeUninit<Ticks>,
    work: MaybeUninit<u64>,
    /// Saved, because finding the thread again takes a function call in position-independent code.
    thread: MaybeUninit<&'static Thread>,
    /// Written only where `record` is null. The counter may not be read for such a call, so the operating system's clock measures it, or its
    /// record is for it alone. `None` if nothing measures the call.
    untimed: MaybeUninit<Option<NonNull<Record>>>,
    /// The call tree's place from which this call was made. Written only if trees are recorded.
    outer: MaybeUninit<Place>,
    /// Linked only in programs that have light probes, too.
    pub(super) frame: Frame,
    /// `None` if no events are counted, for which nothing is written without the feature `pmu`.
    events: Cell<Option<CountedCall>>,
    /// A linked frame is read through the thread's list, too. So a mutable borrow of the slot must not count as the only access.
    pinned: PhantomPinned,
}

impl Slot {
    /// Empty, so it costs nothing, or one store with the feature `pmu`. [`Probe::start`](super::Probe::start) writes the contents.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::new_without_default)] // made by expansions alone
    pub const fn new() -> Self {
        Self {
            record: MaybeUninit::uninit(),
            overhead: Cell::new(MaybeUninit::uninit()),
            start: MaybeUninit::uninit(),
            work: MaybeUninit::uninit(),
            thread: MaybeUninit::uninit(),
            untimed: MaybeUninit::uninit(),
            outer: MaybeUninit::uninit(),
            frame: Frame::new(),
            events: Cell::new(None),
            pinned: PhantomPinned,
        }
    }

    /// A call that is timed, whose `start` is written later.
    #[inline(always)]
    pub(super) fn set_timed(&mut self, record: &Record, thread: &'static Thread) {
        self.record.write(record);
        self.set_overhead(thread.overhead.get());
        self.work.write(thread.work.get());
        self.thread.write(thread);
    }

    /// A call that starts now and is not timed.
    pub(super) fn set_untimed(&mut self, record: NonNull<Record>, thread: &'static Thread) {
        let Sums { overhead, work } = Sums::of(thread);
        self.record.write(ptr::null());
        self.set_overhead(overhead);
        self.start.write(clock::now());
        self.work.write(work);
        self.thread.write(thread);
        self.untimed.write(Some(record));
    }

    /// A call that nothing measures.
    pub(super) fn set_nothing(&mut self) {
        self.record.write(ptr::null());
        self.untimed.write(None);
    }

    #[inline(always)]
    pub(super) fn set_start(&mut self, start: Ticks) {
        self.start.write(start);
    }

    /// What is added to the thread's sum after this does not belong to the call.
    #[inline(always)]
    pub(super) fn set_overhead(&self, overhead: u64) {
        self.overhead.set(MaybeUninit::new(overhead));
    }

    pub(super) fn set_events(&self, call: CountedCall) {
        self.events.set(Some(call));
    }

    #[inline(always)]
    pub(super) fn set_outer(&mut self, outer: Place) {
        self.outer.write(outer);
    }

    /// The call that the slot is for, if it is timed. This is the test of each usual stop.
    ///
    /// # Safety
    ///
    /// A start has written the slot, on this thread.
    #[inline(always)]
    pub(super) unsafe fn timed(&self) -> Option<&Started> {
        // SAFETY: each start writes the record, and the rest if it is not null.
        unsafe { (!self.record.assume_init().is_null()).then(|| self.started()) }
    }

    /// The call that the slot is for, if it is measured although it is not timed.
    ///
    /// # Safety
    ///
    /// As for [`timed`](Self::timed), which has returned `None`.
    pub(super) unsafe fn untimed(&self) -> Option<(&Started, NonNull<Record>)> {
        // SAFETY: each start that leaves the record null writes `untimed`, and the rest if that has a record.
        unsafe {
            let record = self.untimed.assume_init()?;
            Some((self.started(), record))
        }
    }

    /// # Safety
    ///
    /// A start on this thread has written the slot, and the call is measured.
    #[inline(always)]
    unsafe fn started(&self) -> &Started {
        // SAFETY: `Started` is a transparent wrapper.
        unsafe { &*ptr::from_ref(self).cast() }
    }
}

/// The slot of a measured call, written by a start on this thread. It is used until the stop of the call, or of the poll.
#[derive(Debug)]
#[repr(transparent)]
pub struct Started(Slot);

impl Started {
    #[inline(always)]
    pub(super) fn record(&self) -> &Record {
        // SAFETY: the record is written. If it is null, the call is measured although it is not timed, and has another one. The records of
        // a thread outlive all calls on it; one for a single call lives until its stop.
        unsafe {
            match self.0.record.assume_init().as_ref() {
                Some(record) => record,
                None => self.0.untimed.assume_init().unwrap_unchecked().as_ref(),
            }
        }
    }

    /// The same, without a test.
    ///
    /// # Safety
    ///
    /// The call is timed.
    #[inline(always)]
    pub(super) unsafe fn timed_record(&self) -> &Record {
        // SAFETY: a timed call has a record. The records of a thread outlive all calls on it.
        unsafe { &*self.0.record.assume_init() }
    }

    /// Counts the call if a panic ends it. Each call that is not short asks.
    #[inline(always)]
    pub(super) fn note_panic(&self) {
        if std::thread::panicking() {
            self.record().counters.panicked.add(1);
        }
    }

    #[inline(always)]
    pub(super) fn is_timed(&self) -> bool {
        // SAFETY: the record is written.
        !unsafe { self.0.record.assume_init() }.is_null()
    }

    #[inline(always)]
    pub(super) fn thread(&self) -> &'static Thread {
        // SAFETY: each start of a measured call writes the thread.
        unsafe { self.0.thread.assume_init() }
    }

    #[inline(always)]
    pub(super) fn start(&self) -> Ticks {
        // SAFETY: each start of a measured call writes it: the expansion's, or `set_untimed`.
        unsafe { self.0.start.assume_init() }
    }

    /// The thread's running sums at the start.
    #[inline(always)]
    pub(super) fn sums(&self) -> Sums {
        // SAFETY: each start of a measured call writes both.
        unsafe {
            Sums {
                overhead: self.0.overhead.get().assume_init(),
                work: self.0.work.assume_init(),
            }
        }
    }

    /// # Safety
    ///
    /// The call has a place in the tree.
    #[inline(always)]
    pub(super) unsafe fn outer(&self) -> Place {
        // SAFETY: who gives a call its place in the tree writes this.
        unsafe { self.0.outer.assume_init() }
    }

    #[inline(always)]
    pub(super) fn frame(&self) -> &Frame {
        &self.0.frame
    }

    pub(super) fn events(&self) -> Option<CountedCall> {
        self.0.events.get()
    }

    /// These ticks are overhead for the calls around this one, but not for itself.
    pub(super) fn add_overhead_around(&self, ticks: u64) {
        let (thread, at_start) = (self.thread(), self.sums().overhead);
        thread.add_overhead(ticks.cast_signed());
        self.0.set_overhead(at_start.wrapping_add(ticks));
    }
}
