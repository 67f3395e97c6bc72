//! The state that a thread keeps for its light probes.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::compiler_fence;

use super::account::Account;
use super::{Frame, Paths, Row};
use crate::interruption::{self, CURRENT, Descriptor, Detector, Seen};
use crate::on_cpu;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicUsize, fence};
use crate::sync::thread_local;
use crate::tick_clock::{self, epoch};
use crate::tsc::{Ticks, clock, elapsed};

mod frames;

/// Probes look at this word while the thread has no rows that they may use.
static CLEARED: AtomicUsize = AtomicUsize::new(0);

/// A single `thread_local!` for all light callsites, initialised by a constant and without a destructor.
///
/// As long as nothing has happened since the last check of a probe, the thread's word is *current*. The kernel clears it when the thread leaves
/// its CPU, and other threads make it *stale* for a tick of the clock, a pause or a reset. So one comparison tells a probe all of this.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct LightThread {
    /// First, because it is used most: an offset of 0 takes the least code.
    innermost: Cell<*const Frame>,
    /// Where probes look: at the thread's word, or at [`CLEARED`].
    checked: Cell<*const AtomicUsize>,
    /// [`CURRENT`]. Here, and not found by its name, because this takes less code.
    current: Cell<*const Descriptor>,
    rows: Cell<*const Row>,
    /// The length of `rows`, in bytes.
    len: Cell<u32>,
    /// The light calls of this thread so far, for the timed calls around them.
    calls: Cell<u64>,
    /// Those of the calls whose cost is in the thread's running overhead.
    accounted: Cell<u64>,
    /// When they were.
    accounted_at: Cell<Ticks>,
    /// The thread's word: the kernel's, or `own_word` where there is none or another library uses it. Null before the first call.
    word: Cell<*const AtomicUsize>,
    own_word: AtomicUsize,
    /// False after a pause or a reset, which the next start must notice. The only field but the word that other threads write.
    is_valid: AtomicBool,
    paths: Cell<*const Paths>,
    /// The outermost frame of a timed call; null if none is linked.
    timed: Cell<*const Frame>,
    /// Whether a timed call was running at the thread's first light one. Such a call has no frame.
    began_in_timed: Cell<bool>,
    /// How often the rows were forgotten.
    forgotten: Cell<u32>,
    pub(crate) account: Account,
}

thread_local! {
    static THREAD: LightThread = const {
        LightThread {
            innermost: Cell::new(ptr::null()),
            checked: Cell::new(&raw const CLEARED),
            current: Cell::new(CURRENT),
            rows: Cell::new(ptr::null()),
            len: Cell::new(0),
            calls: Cell::new(0),
            accounted: Cell::new(0),
            accounted_at: Cell::new(0),
            word: Cell::new(ptr::null()),
            own_word: AtomicUsize::new(0),
            is_valid: AtomicBool::new(false),
            paths: Cell::new(ptr::null()),
            timed: Cell::new(ptr::null()),
            began_in_timed: Cell::new(false),
            forgotten: Cell::new(0),
            account: Account::new(),
        }
    };
}

/// This thread's state.
#[inline(always)]
pub(crate) fn this() -> &'static LightThread {
    // `with` cannot fail, because there is no destructor that ends the state early.
    let thread: *const LightThread = THREAD.with(ptr::from_ref);
    // SAFETY: the state lives as long as the thread. `'static` is longer, but it is not `Sync`, so the reference stays on its thread.
    in_register(unsafe { &*thread })
}

/// Makes the compiler keep the address in a register. Otherwise it would find the place again for each field, by longer instructions.
#[inline(always)]
#[allow(unused_mut, clippy::pointers_in_nomem_asm_block)] // the template reads no memory
pub(crate) fn in_register<T>(place: &T) -> &T {
    let mut address = ptr::from_ref(place);
    #[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), not(miri)))]
    // SAFETY: the template is a comment, so no instruction is executed.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags));
    }
    // SAFETY: it is still the address of `place`.
    unsafe { &*address }
}

impl LightThread {
    /// Whether this thread has made light calls.
    pub(crate) fn has_begun(&self) -> bool {
        !self.word.get().is_null()
    }

    /// Whether nothing has happened since the last check: no tick, no time off the CPU, no pause and no reset.
    #[inline(always)]
    pub(crate) fn is_current(&self) -> bool {
        // SAFETY: a static, a field of `self`, the kernel's word, which lives as long as the thread, or a variable of `with_rows` while that runs.
        let checked = unsafe { &*self.checked.get() };
        checked.load(Relaxed) == self.current.get().addr()
    }

    /// Whether the thread has a row at `offset`, which may be used if nothing has happened.
    #[inline(always)]
    pub(crate) fn has(&self, offset: u32) -> bool {
        offset < self.len.get()
    }

    /// The same where probes have not looked whether anything has happened.
    pub(crate) fn has_valid(&self, offset: u32) -> bool {
        self.is_valid.load(Relaxed) && self.has(offset)
    }

    /// # Safety
    ///
    /// [`has`](Self::has) has returned true for the offset of a callsite.
    #[inline(always)]
    pub(crate) unsafe fn row(&self, offset: u32) -> &Row {
        // SAFETY: guaranteed by the caller: the array has a row there. It is freed only after the thread's end has set `len` to 0.
        unsafe { &*self.rows.get().byte_add(offset as usize) }
    }

    /// The light calls of this thread, and the ticks, since the last time that this was asked. Below zero if a signal handler has asked in
    /// between, and so has accounted for later ones.
    pub(crate) fn new_calls(&self) -> (i64, i64) {
        let calls = self.calls.get();
        let now = match clock::is_os_clock() {
            // The counter may not be read.
            true => clock::now(),
            false => on_cpu::now(),
        };
        let accounted = self.accounted.replace(calls);
        let since = elapsed(self.accounted_at.replace(now), now);
        (calls.wrapping_sub(accounted).cast_signed(), since)
    }

    /// The thread's paths; `None` before its first light call, and after its end.
    pub(crate) fn paths(&self) -> Option<&Paths> {
        // SAFETY: the pointer is null, or was set by `begin`, whose caller keeps the paths until `end`.
        unsafe { self.paths.get().as_ref() }
    }

    /// The parent's paths, in the child of a fork, where running calls have places in them.
    pub(crate) fn inherited_paths(&self) -> Option<Arc<Paths>> {
        let paths = self.paths.get();
        // SAFETY: the pointer is null, or comes from an `Arc` that the registry keeps until `end`. The child never drops the parent's.
        (!paths.is_null()).then(|| unsafe {
            Arc::increment_strong_count(paths);
            Arc::from_raw(paths)
        })
    }

    /// Begins to use the word that the detector has found, or one of the thread's own. The paths must live until [`end`](Self::end). Returns
    /// false if too many threads use theirs.
    pub(crate) fn begin(&self, detector: &Detector, paths: &Arc<Paths>) -> bool {
        let word = detector.word().map(|word| word.cast());
        let begins = self.begin_to_use(word.unwrap_or(&raw const self.own_word));
        if begins {
            self.paths.set(Arc::as_ptr(paths));
        }
        begins
    }

    /// Begins to count calls, where no times are known.
    pub(crate) fn begin_to_count(&self) -> bool {
        self.begin_to_use(&raw const self.own_word)
    }

    /// Probes look at the word when the thread has rows.
    fn begin_to_use(&self, word: *const AtomicUsize) -> bool {
        self.checked.set(&raw const CLEARED);
        self.word.set(word);
        // SAFETY: the word is the thread's, which leaves the list before it ends.
        unsafe { epoch().words.add(word) }
    }

    /// Sets the rows to use from now on. They must live until [`end`](Self::end).
    pub(crate) fn set_rows(&self, rows: &[Row]) {
        let len = size_of_val(rows) as u32;
        self.use_rows(rows.as_ptr(), len, self.word.get());
        self.validate();
    }

    /// Uses so many bytes of rows from now on, and makes probes look at `checked`. A signal handler may come in between. The old rows stay.
    fn use_rows(&self, rows: *const Row, len: u32, checked: *const AtomicUsize) {
        self.len.set(0);
        compiler_fence(SeqCst);
        self.rows.set(rows);
        self.checked.set(checked);
        compiler_fence(SeqCst);
        self.len.set(len);
    }

    /// Makes the word current. What has happened before must be looked at afterwards. Returns what the word contained.
    pub(crate) fn arm(&self, detector: &Detector) -> Seen {
        let seen = if self.has_own_word() {
            Seen::Foreign
        } else {
            detector.arm_with(interruption::current())
        };
        if seen == Seen::Foreign {
            self.arm_own_word();
        }
        fence(SeqCst);
        if !self.is_valid.load(Relaxed) {
            self.make_stale();
        }
        seen
    }

    /// Makes a word of the thread's own current. If it has not used this one yet, another library uses the kernel's.
    fn arm_own_word(&self) {
        if !self.has_own_word() {
            let own = &raw const self.own_word;
            self.checked.set(own);
            // SAFETY: as in `begin_to_use`.
            unsafe { epoch().words.replace(self.word.replace(own), own) };
        }
        self.own_word.store(interruption::current(), Relaxed);
    }

    /// Whether the word is one of the thread's own, which the kernel does not clear.
    fn has_own_word(&self) -> bool {
        ptr::eq(self.word.get(), &raw const self.own_word)
    }

    /// Sends the next probe through the cold path. For this thread.
    fn make_stale(&self) {
        // SAFETY: the word lives as long as the thread; null becomes `None`.
        if let Some(word) = unsafe { self.word.get().as_ref() } {
            tick_clock::make_stale(word);
        }
    }

    /// Makes the thread use its rows again after [`invalidate`](Self::invalidate).
    pub(crate) fn validate(&self) {
        self.is_valid.store(true, Relaxed);
        if self.paths().is_none() && self.has_own_word() {
            // Nothing but a pause or a reset makes this word stale, so no check arms it.
            self.own_word.store(interruption::current(), Relaxed);
        }
        fence(SeqCst);
    }

    /// Sends the next start through the cold path, even if a check comes first. Any thread may call this, and makes the word stale afterwards.
    pub(crate) fn invalidate(&self) {
        self.is_valid.store(false, Relaxed);
    }

    /// The same, for this thread.
    pub(crate) fn invalidate_own(&self) {
        self.invalidate();
        self.make_stale();
    }

    /// Forgets the rows, in the child of a fork, where they are the parent's. The thread adds its word when it begins again.
    pub(crate) fn forget_rows(&self) {
        self.checked.set(&raw const CLEARED);
        self.invalidate();
        self.len.set(0);
        self.leave_words();
        self.forgotten.update(|times| times.wrapping_add(1));
    }

    /// Uses other rows while `f` runs, for the calibration. No probe takes the cold path meanwhile.
    pub(crate) fn with_rows(&self, rows: &[Row], f: impl FnOnce()) {
        let forgotten = self.forgotten.get();
        compiler_fence(SeqCst);
        let current = AtomicUsize::new(interruption::current());
        let (own, own_len) = (self.rows.get(), self.len.get());
        let (checked, calls) = (self.checked.get(), self.calls.get());
        let len = size_of_val(rows) as u32;
        self.use_rows(rows.as_ptr(), len, &raw const current);
        f();
        self.calls.set(calls);
        self.use_rows(own, own_len, checked);
        compiler_fence(SeqCst);
        if self.forgotten.get() != forgotten {
            // A signal handler has forked meanwhile, and in its child the rows are the parent's.
            self.forget_rows();
        }
    }

    fn leave_words(&self) {
        epoch().words.remove(self.word.get());
    }

    /// Ends the use of rows and paths, because the thread ends.
    pub(crate) fn end(&self) {
        self.checked.set(&raw const CLEARED);
        self.leave_words();
        self.invalidate();
        self.len.set(0);
        self.word.set(ptr::null());
        self.paths.set(ptr::null());
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests;
