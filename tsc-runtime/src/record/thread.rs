//! What a thread keeps for its probes: the table of its records, and the two running sums that nesting is told by.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::interruption::Detector;
use crate::on_cpu::OnCpu;
use crate::record::Record;
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
        if !self.has(position) {
            return None;
        }
        // SAFETY: just asked; a record lives as long as its entry.
        unsafe {
            let entry = self.entry(position);
            Some((entry, entry.record().as_ref()?))
        }
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
    /// The table [has](Self::has) it.
    #[inline(always)]
    pub(crate) unsafe fn entry(&self, position: Position) -> &Entry {
        // SAFETY: `len` segments are there and have a place for all positions in them. Like the records, they live until the
        // thread's end has set `len` to 0 (or `with_segment` has).
        unsafe {
            let segment = self.segments.get_unchecked(usize::from(position.segment));
            &*segment.get().byte_add(position.offset as usize)
        }
    }

    /// Uses a table from now on.
    pub(crate) fn set_table(&self, table: &Table) {
        for (own, segment) in self.segments.iter().zip(table.segments()) {
            own.set(segment.as_ptr());
        }
        let len = table.segments().count().min(SEGMENTS);
        self.len.store(len as u32, Relaxed);
    }

    /// Uses another table's first segment alone while `f` runs, and has the old sums again afterwards. The next probe takes the
    /// cold path, and so finds its own table, or a pause or reset that came meanwhile.
    pub(crate) fn with_segment(&self, segment: &[Entry; FIRST_LEN], f: impl FnOnce()) {
        let (overhead, work) = (self.overhead.get(), self.work.get());
        self.segments[0].set(segment.as_ptr());
        self.len.store(1, Relaxed);
        f();
        self.invalidate();
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
            let cost = self.on_cpu.cost_of(&answer, self.detector.is_armed());
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
