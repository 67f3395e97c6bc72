//! What a thread keeps for its probes: the table of its records, and the two running sums that nesting is told by.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::interruption::Detector;
use crate::on_cpu::OnCpu;
use crate::record::Record;
use crate::record::contexts::Contexts;
use crate::record::sampling::Sampler;
use crate::record::table::{Entry, FIRST_LEN, Position, SEGMENTS, Table};
use crate::tsc::{Ticks, elapsed};

/// One `thread_local!` for all callsites, const-initialised and without a destructor: on most platforms reaching it is one
/// instruction, and no callsite needs a `thread_local!` of its own.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Thread {
    /// How many of the table's segments may be used. The one field that other threads write: 0, to send this thread's next probe
    /// through the cold path, where it learns of a pause or a reset.
    len: AtomicU32,
    /// What all probes of this thread have cost so far, in ticks, and what it was off the CPU. A probe saves it at its start; the
    /// difference at its stop is what the probes nested in it cost, and what was lost in it.
    pub(crate) overhead: Cell<u64>,
    /// In the cold path: a probe that is reached from there (an annotated allocator, a signal handler) does nothing.
    busy: Cell<bool>,
    /// Making a report, and so perhaps allocating: one that is asked for from there is refused.
    reporting: Cell<bool>,
    /// The runtime's part of the thread has ended; what calls now, another destructor calls.
    ended: Cell<bool>,
    /// Net ticks of all activations so far, each counted once. The difference is what annotated callees took.
    pub(crate) work: Cell<u64>,
    pub(crate) detector: Detector,
    pub(crate) sampler: Sampler,
    /// Of `work`: the variance that it has because of some calls only some were timed.
    pub(crate) variance: Cell<f64>,
    segments: [Cell<*const Entry>; SEGMENTS],
    /// How many of them there are, whether they may be used or not.
    segments_len: Cell<u32>,
    /// The thread's call tree; null if call trees are not recorded. If it is there, `len` is always 0 and this is the number of
    /// segments instead: so every probe takes the way for unusual ones, and there the tree's, and without trees none has to ask.
    contexts: Cell<*const Contexts>,
    len_in_tree: AtomicU32,
    pub(crate) on_cpu: OnCpu,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            len: AtomicU32::new(0),
            overhead: Cell::new(0),
            work: Cell::new(0),
            detector: Detector::new(),
            sampler: Sampler::new(),
            variance: Cell::new(0.0),
            busy: Cell::new(false),
            reporting: Cell::new(false),
            ended: Cell::new(false),
            segments: [const { Cell::new(ptr::null()) }; SEGMENTS],
            segments_len: Cell::new(0),
            contexts: Cell::new(ptr::null()),
            len_in_tree: AtomicU32::new(0),
            on_cpu: OnCpu::new(),
        }
    };
}

/// This thread's state.
#[inline(always)]
pub(crate) fn this() -> &'static Thread {
    // `with` cannot fail, for there is no destructor after which the state would be gone; but a longer closure is not inlined.
    let thread: *const Thread = THREAD.with(ptr::from_ref);
    // SAFETY: it lives as long as the thread, which `'static` must not outlive here: `Thread` is not Sync, so the reference stays
    // on its thread.
    unsafe { &*thread }
}

impl Thread {
    /// This thread's entry and record of a callsite, if the callsite was called here and nothing has changed since.
    #[inline(always)]
    pub(crate) fn find(&self, position: Position) -> Option<(&Entry, &Record)> {
        let entry = if self.has(position) {
            // SAFETY: just asked.
            unsafe { self.entry(position) }
        } else {
            self.entry_in_tree(position)?
        };
        // SAFETY: a record lives as long as its entry; null gives None.
        Some((entry, unsafe { entry.record().as_ref()? }))
    }

    /// The entry of a callsite where call trees are recorded, if nothing has changed since it was made.
    #[inline(always)]
    pub(crate) fn entry_in_tree(&self, position: Position) -> Option<&Entry> {
        if u32::from(position.segment) >= self.len_in_tree.load(Relaxed) {
            return None;
        }
        // SAFETY: as many segments are there, so that of `position` is.
        Some(unsafe { self.entry(position) })
    }

    /// The record, also if a reset or a pause has come since. For the cold path of a thread that has not ended and uses its own table.
    pub(crate) fn find_invalidated(&self, position: Position) -> Option<&Record> {
        if u32::from(position.segment) >= self.segments_len.get() {
            return None;
        }
        // SAFETY: there are as many segments; a record lives as long as its entry.
        unsafe { self.entry(position).record().as_ref() }
    }

    /// Whether this thread's table has an entry of a callsite, and nothing has changed since it was made.
    #[inline(always)]
    pub(crate) fn has(&self, position: Position) -> bool {
        u32::from(position.segment) < self.len.load(Relaxed)
    }

    /// The entry, with a record or without.
    ///
    /// # Safety
    ///
    /// The table has the segment of `position`.
    #[inline(always)]
    pub(crate) unsafe fn entry(&self, position: Position) -> &Entry {
        // SAFETY: `len` segments are there and have a place for all positions in them. Like the records, they live until the
        // thread's end has set `len` to 0 (or `with_segment` has).
        unsafe {
            let segment = self.segments.get_unchecked(usize::from(position.segment));
            &*segment.get().byte_add(position.offset as usize)
        }
    }

    /// The thread's call tree, if it is recorded.
    #[inline(always)]
    pub(crate) fn contexts(&self) -> Option<&Contexts> {
        // SAFETY: null, or set by `record_tree` or `with_segment`, whose callers keep the tree until the thread's end.
        unsafe { self.contexts.get().as_ref() }
    }

    /// Records the call tree there. It must outlive the thread's last call.
    pub(crate) fn record_tree(&self, contexts: &Contexts) {
        self.set_contexts(contexts);
        self.invalidate();
    }

    fn set_contexts(&self, contexts: *const Contexts) {
        self.contexts.set(contexts);
        self.detector.look_at_every_call(!contexts.is_null());
    }

    fn set_len(&self, len: u32) {
        if self.contexts.get().is_null() {
            self.len.store(len, Relaxed);
        } else {
            self.len_in_tree.store(len, Relaxed);
        }
    }

    /// Uses a table from now on.
    pub(crate) fn set_table(&self, table: &Table) {
        for (own, segment) in self.segments.iter().zip(table.segments()) {
            own.set(segment.as_ptr());
        }
        let len = table.segments().count().min(SEGMENTS);
        self.segments_len.set(len as u32);
        self.validate();
    }

    /// Uses its table again, after [`invalidate`](Self::invalidate).
    pub(crate) fn validate(&self) {
        self.set_len(self.segments_len.get());
    }

    /// Uses another table's first segment alone while `f` runs, and has the old sums again afterwards. The next probe takes the
    /// cold path, and so finds its own table, or a pause or reset that came meanwhile.
    /// `contexts` is the thread's call tree meanwhile, if call trees are recorded.
    pub(crate) fn with_segment(
        &self,
        segment: &[Entry; FIRST_LEN],
        contexts: Option<&Contexts>,
        f: impl FnOnce(),
    ) {
        let own = self.contexts.get();
        self.set_contexts(contexts.map_or(ptr::null(), ptr::from_ref));
        let (overhead, work) = (self.overhead.get(), self.work.get());
        let own_segment = self.segments[0].replace(segment.as_ptr());
        self.set_len(1);
        f();
        self.invalidate();
        self.segments[0].set(own_segment);
        self.set_contexts(own);
        self.overhead.set(overhead);
        self.work.set(work);
    }

    /// Arms the detector of interruptions, for a start that follows. If it was cleared, the time that was lost since the last check belongs
    /// to the call that runs now. In the cold path nothing is asked: its end asks for all that was lost in there.
    pub(crate) fn rearm(&self) {
        if self.detector.arm() && !self.is_busy() {
            self.note_loss();
        }
    }

    /// The overhead that a cold path from `start` to `end` has added to the running sum already: what it was off the CPU. From here on
    /// that is overhead as the rest of its time is. The detector may have been armed in there without asking.
    pub(crate) fn turn_loss_into_overhead(&self, start: Ticks, end: Ticks) -> i64 {
        if self.detector.arm() || self.detector.rearmed_since(start) {
            self.note_loss();
        }
        self.on_cpu.forget_since(start, elapsed(start, end))
    }

    fn note_loss(&self) {
        if let Some(answer) = self.on_cpu.ask() {
            self.on_cpu.add(answer.at, answer.loss);
            let cost = self
                .on_cpu
                .cost_since(answer.began, self.detector.is_armed());
            self.add_overhead(answer.loss.off.wrapping_add(cost));
        }
    }

    /// Carries the running overhead on.
    pub(crate) fn add_overhead(&self, ticks: i64) {
        self.overhead
            .set(self.overhead.get().wrapping_add_signed(ticks));
    }

    /// The next probe of any callsite takes the cold path. May be called by any thread.
    pub(crate) fn invalidate(&self) {
        self.len.store(0, Relaxed);
        self.len_in_tree.store(0, Relaxed);
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy.get()
    }

    pub(crate) fn is_reporting(&self) -> bool {
        self.reporting.get()
    }

    /// Sets the busy mark; `None` if it is set already.
    pub(crate) fn enter_cold_path(&self) -> Option<Mark<'_>> {
        Mark::set(&self.busy)
    }

    /// Sets the mark of making a report; `None` if a report is being made on this thread, or the thread is in the cold path.
    pub(crate) fn enter_report(&self) -> Option<Mark<'_>> {
        if self.is_busy() {
            return None;
        }
        Mark::set(&self.reporting)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.get()
    }

    /// The runtime's part of the thread ends. Asks nothing of anybody, so that it may be called wherever a thread can end.
    pub(crate) fn end(&self) {
        self.invalidate();
        self.segments_len.set(0);
        self.contexts.set(ptr::null());
        self.ended.set(true);
        self.detector.detach();
        self.on_cpu.detach();
    }
}

/// Removes a mark when dropped.
pub(crate) struct Mark<'a>(&'a Cell<bool>);

impl<'a> Mark<'a> {
    fn set(mark: &'a Cell<bool>) -> Option<Self> {
        (!mark.replace(true)).then(|| Self(mark))
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
