//! The state that a thread keeps for its probes: the table of its records, and the two running sums from which nesting is computed.

use std::cell::Cell;
use std::sync::atomic::compiler_fence;
use std::{ptr, slice};

use crate::interruption::Detector;
use crate::on_cpu::OnCpu;
use crate::process::NotCancelled;
use crate::record::Record;
use crate::record::contexts::Contexts;
use crate::record::kept::{Kept, Noted};
use crate::record::table::{Entry, FIRST_LEN, Position, SEGMENTS, Table};
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use crate::sync::thread_local;
use crate::tsc::Ticks;

mod times;

/// A single `thread_local!` for all callsites, initialised by a constant and without a destructor. On most platforms accessing it takes one
/// instruction, and no callsite needs a `thread_local!` of its own.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Thread {
    /// The number of the table's segments that may be used. This is the only field that other threads write: 0 sends this thread's next
    /// probe through the cold path, where it notices a pause or a reset.
    len: AtomicU32,
    /// The cost of all probes of this thread so far, in ticks, plus the time off the CPU. A probe saves this sum at its start. The
    /// difference at its stop is the cost of nested probes and the time that was lost.
    pub(crate) overhead: Cell<u64>,
    /// Set in the cold path, which is not entered again meanwhile. A call that comes then, in an annotated allocator or a signal handler, is
    /// recorded as usual if the thread's table has its callsite, and is counted as unrecorded if it has not.
    busy: Cell<bool>,
    /// Set while making a report, which may allocate. A report that is requested in the meantime is refused.
    reporting: Cell<bool>,
    /// The runtime's part of the thread has ended. Calls after that come from other destructors.
    ended: Cell<bool>,
    /// Net ticks of all activations so far, each counted once. The difference over a call is the time of its annotated callees.
    pub(crate) work: Cell<u64>,
    pub(crate) detector: Detector,
    segments: [Cell<*const Entry>; SEGMENTS],
    /// The number of segments, whether they may be used or not.
    segments_len: Cell<u32>,
    /// The thread's call tree; null if call trees are not recorded. With a tree, `len` is always 0, and this field has the number of
    /// segments instead. So every probe takes the path of unusual ones, and from there that of the tree; without trees no probe has to
    /// check.
    contexts: Cell<*const Contexts>,
    /// Whether the program has light probes, too. Then each probe takes the same path, but no call tree is recorded.
    mixed: Cell<bool>,
    len_in_tree: AtomicU32,
    pub(crate) on_cpu: OnCpu,
    pub(crate) kept: Kept,
    /// The ticks that each cold path takes, if time is simulated.
    simulated_cold_path: Cell<Option<Ticks>>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            len: AtomicU32::new(0),
            overhead: Cell::new(0),
            work: Cell::new(0),
            detector: Detector::new(),
            busy: Cell::new(false),
            reporting: Cell::new(false),
            ended: Cell::new(false),
            segments: [const { Cell::new(ptr::null()) }; SEGMENTS],
            segments_len: Cell::new(0),
            contexts: Cell::new(ptr::null()),
            mixed: Cell::new(false),
            len_in_tree: AtomicU32::new(0),
            on_cpu: OnCpu::new(),
            kept: Kept::new(),
            simulated_cold_path: Cell::new(None),
        }
    };
}

/// This thread's state.
#[inline(always)]
pub(crate) fn this() -> &'static Thread {
    // `with` cannot fail, because there is no destructor that ends the state early. A longer closure would not be inlined.
    let thread: *const Thread = THREAD.with(ptr::from_ref);
    // SAFETY: the state lives as long as the thread. `'static` is longer, but `Thread` is not `Sync`, so the reference stays on its
    // thread.
    unsafe { &*thread }
}

/// Simulates the time of this thread from now on, for tests whose calls have a simulated counter: no call is interrupted, and each cold
/// path takes `cold_path` ticks. The counter of such calls does not contain the real times, so subtracting them would be wrong.
pub fn simulate_time(cold_path: Ticks) {
    let thread = this();
    thread.simulated_cold_path.set(Some(cold_path));
    thread.detector.ignore_interruptions();
}

impl Thread {
    /// This thread's entry and record of a callsite, if the callsite was called here and nothing has changed since.
    pub(crate) fn find(&self, position: Position) -> Option<(&Entry, &Record)> {
        self.find_usual(position)
            .or_else(|| self.find_unusual(position))
    }

    /// The same for usual calls.
    #[inline(always)]
    pub(crate) fn find_usual(&self, position: Position) -> Option<(&Entry, &Record)> {
        self.find_in(self.len.load(Relaxed), position)
    }

    /// The same where all calls take the path of unusual ones, because call trees are recorded or there are light probes.
    #[inline(always)]
    pub(crate) fn find_unusual(&self, position: Position) -> Option<(&Entry, &Record)> {
        self.find_in(self.len_in_tree.load(Relaxed), position)
    }

    /// The same, even after a reset or a pause. For the cold path of a thread that has not ended and uses its own table.
    pub(crate) fn find_invalidated(&self, position: Position) -> Option<(&Entry, &Record)> {
        self.find_in(self.segments_len.get(), position)
    }

    /// Notes that a call was kept. If its callers are not known, those that are running take the path of unusual calls at their stops.
    pub(crate) fn note_kept(&self, call: Noted, is_open: bool) {
        self.kept.note(call, is_open);
        if is_open {
            self.detector.note(call.end);
        }
    }

    /// Calls `f` with the records of which calls were kept since `start`, and perhaps with others.
    pub(crate) fn for_each_kept_since(&self, start: Ticks, f: impl Fn(&Record)) {
        for Noted { number, end, .. } in self.kept.latest_first() {
            if end <= start {
                return;
            }
            if let Some((_, record)) = self.find_invalidated(Position::of(number)) {
                f(record);
            }
        }
        // More than were noted.
        self.for_each_wanted(|_| true, f);
    }

    /// Calls `f` with the records whose entries are wanted, and looks at nothing else of the other ones, of which there may be very many. For the
    /// cold path, likewise.
    pub(crate) fn for_each_wanted(&self, is_wanted: impl Fn(&Entry) -> bool, f: impl Fn(&Record)) {
        let segments = self.segments.iter().take(self.segments_len.get() as usize);
        for (number, segment) in segments.enumerate() {
            // SAFETY: as in `find_in`. Each segment has the length that `Table` gives it.
            let entries = unsafe { slice::from_raw_parts(segment.get(), FIRST_LEN << number) };
            for entry in entries.iter().filter(|entry| is_wanted(entry)) {
                // SAFETY: as in `find_in`.
                if let Some(record) = unsafe { entry.record().as_ref() } {
                    f(record);
                }
            }
        }
    }

    /// Whether this thread has used a table, even if there was a reset or a pause since.
    pub(crate) fn has_table(&self) -> bool {
        self.segments_len.get() != 0
    }

    /// Finds them in the first `len` segments, which is one of the thread's own lengths.
    #[inline(always)]
    fn find_in(&self, len: u32, position: Position) -> Option<(&Entry, &Record)> {
        if u32::from(position.segment) >= len {
            return None;
        }
        // SAFETY: the table has `len` segments, each with room for all positions in it. Like the records, they live until the end of the
        // thread has set the lengths to 0 (or `with_segment` has). Null becomes `None`.
        unsafe {
            let segment = self.segments.get_unchecked(usize::from(position.segment));
            let entry = &*segment.get().byte_add(position.offset as usize);
            Some((entry, entry.record().as_ref()?))
        }
    }

    /// The thread's call tree, if it is recorded.
    #[inline(always)]
    pub(crate) fn contexts(&self) -> Option<&Contexts> {
        // SAFETY: the pointer is null, or was set by `record_tree`, whose caller keeps the tree until the thread's end, or by `with_segment`,
        // which replaces it before its caller's tree ends.
        unsafe { self.contexts.get().as_ref() }
    }

    /// Sets the call tree, which must outlive the thread's last call.
    pub(crate) fn record_tree(&self, contexts: &Contexts) {
        self.set_contexts(contexts);
        self.invalidate();
    }

    fn set_contexts(&self, contexts: *const Contexts) {
        self.contexts.set(contexts);
        self.detector.look_at_every_call(self.looks_at_every_call());
    }

    fn looks_at_every_call(&self) -> bool {
        self.mixed.get() || !self.contexts.get().is_null()
    }

    /// From now on the program has light probes, too. Called before the table is used again. Returns whether that is new.
    pub(crate) fn begin_to_mix(&self) -> bool {
        let is_new = !self.mixed.replace(true);
        if is_new {
            self.set_contexts(ptr::null());
            // The light calls so far are in no timed one that has a frame.
            super::light::this().new_calls();
        }
        is_new
    }

    pub(crate) fn is_mixed(&self) -> bool {
        self.mixed.get()
    }

    /// After the segments, which a signal handler may use from now on.
    fn set_len(&self, len: u32) {
        match self.looks_at_every_call() {
            true => self.len_in_tree.store(len, Release),
            false => self.len.store(len, Release),
        }
    }

    /// Sets the table to use from now on.
    pub(crate) fn set_table(&self, table: &Table) {
        for (own, segment) in self.segments.iter().zip(table.segments()) {
            own.set(segment.as_ptr());
        }
        let len = table.segments().count().min(SEGMENTS);
        self.segments_len.set(len as u32);
        self.validate();
    }

    /// Makes the thread use its table again after [`invalidate`](Self::invalidate).
    pub(crate) fn validate(&self) {
        self.set_len(self.segments_len.get());
    }

    /// Uses only the first segment of another table while `f` runs, and restores the old sums afterwards. The next probe takes the cold
    /// path, and so finds its own table, or a pause or reset that has come meanwhile. `contexts` is the thread's call tree in the meantime,
    /// if call trees are recorded. `mixed` is whether the program has light probes, too.
    pub(crate) fn with_segment(
        &self,
        segment: &[Entry; FIRST_LEN],
        contexts: Option<&Contexts>,
        mixed: bool,
        f: impl FnOnce(),
    ) {
        let (own, own_mixed) = (self.contexts.get(), self.mixed.replace(mixed));
        self.set_contexts(contexts.map_or(ptr::null(), ptr::from_ref));
        let (overhead, work) = (self.overhead.get(), self.work.get());
        let own_segment = self.segments[0].replace(segment.as_ptr());
        self.set_len(1);
        f();
        self.invalidate();
        // A signal handler that still finds the other length finds the other segment.
        compiler_fence(SeqCst);
        self.segments[0].set(own_segment);
        self.mixed.set(own_mixed);
        self.set_contexts(own);
        self.overhead.set(overhead);
        self.work.set(work);
    }

    /// Sends the next probe of any callsite through the cold path. Any thread may call this.
    pub(crate) fn invalidate(&self) {
        self.len.store(0, Relaxed);
        self.len_in_tree.store(0, Relaxed);
    }

    /// Forgets the table, in the child of a fork, where it is the parent's.
    pub(crate) fn forget_table(&self) {
        self.invalidate();
        self.segments_len.set(0);
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy.get()
    }

    pub(crate) fn is_reporting(&self) -> bool {
        self.reporting.get()
    }

    /// Sets the busy mark. Returns `None` if it is already set.
    pub(crate) fn enter_cold_path(&self) -> Option<Mark<'_>> {
        Mark::begin(&self.busy)
    }

    /// Sets the mark for making a report. Returns `None` if a report is being made on this thread, or the thread is in the cold path.
    pub(crate) fn enter_report(&self) -> Option<Mark<'_>> {
        (!self.is_busy()).then(|| Mark::begin(&self.reporting))?
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.get()
    }

    /// What a cold path takes that took `real` ticks.
    pub(crate) fn cold_path_ticks(&self, real: Ticks) -> Ticks {
        self.simulated_cold_path.get().unwrap_or(real)
    }

    /// Ends the runtime's part of the thread. Needs no other state, so it may be called wherever a thread can end.
    pub(crate) fn end(&self) {
        self.invalidate();
        self.segments_len.set(0);
        self.contexts.set(ptr::null());
        self.kept.clear();
        self.ended.set(true);
        self.detector.detach();
        self.on_cpu.detach();
    }
}

/// Removes a mark when dropped. The thread is not cancelled meanwhile.
pub(crate) struct Mark<'a> {
    mark: &'a Cell<bool>,
    /// Dropped after the mark is removed.
    _not_cancelled: NotCancelled,
}

impl<'a> Mark<'a> {
    /// `None` if it is set already.
    fn begin(mark: &'a Cell<bool>) -> Option<Self> {
        (!mark.replace(true)).then(|| Self {
            mark,
            _not_cancelled: NotCancelled::begin(),
        })
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        self.mark.set(false);
    }
}
