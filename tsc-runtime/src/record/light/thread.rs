//! The state that a thread keeps for its light probes.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::compiler_fence;

use super::account::Account;
use super::frame::Who;
use super::{Frame, Paths, Row};
use crate::interruption::Detector;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use crate::sync::thread_local;
use crate::tick_clock::{EPOCH, Epoch, Tick};

/// A thread that is not attached looks at this word, which never equals the epoch.
static NEVER: u64 = 0;

/// A single `thread_local!` for all light callsites, initialised by a constant and without a destructor.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct LightThread {
    /// First, because it is used most: an offset of 0 takes the least code.
    innermost: Cell<*const Frame>,
    /// Equals the epoch as long as the clock has not ticked and the thread has not left the CPU.
    word: Cell<*const u64>,
    /// Here, and not found by its name, because this takes less code. No reference, because a constant may not hold one to what can
    /// change before Rust 1.89.
    epoch: Cell<*const Epoch>,
    rows: Cell<*const Row>,
    /// The length of `rows` that may be used, in bytes. This is the only field that other threads write: 0 sends this thread's next probe
    /// through the cold path, where it notices a pause.
    len: AtomicU32,
    /// The light calls of this thread so far, for the timed calls around them.
    calls: Cell<u64>,
    /// Those of the calls whose cost is in the thread's running overhead.
    accounted: Cell<u64>,
    /// The length of `rows`, whether it may be used or not.
    whole_len: Cell<u32>,
    paths: Cell<*const Paths>,
    /// Replaces the kernel's word where there is none.
    own_word: Cell<u64>,
    pub(crate) account: Account,
}

thread_local! {
    static THREAD: LightThread = const {
        LightThread {
            word: Cell::new(&raw const NEVER),
            epoch: Cell::new(&raw const EPOCH),
            rows: Cell::new(ptr::null()),
            innermost: Cell::new(ptr::null()),
            len: AtomicU32::new(0),
            calls: Cell::new(0),
            accounted: Cell::new(0),
            whole_len: Cell::new(0),
            paths: Cell::new(ptr::null()),
            own_word: Cell::new(0),
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
    /// Whether the clock has not ticked and the thread has not left the CPU since the last check.
    #[inline(always)]
    pub(crate) fn is_current(&self) -> bool {
        // SAFETY: as in `word`. Not volatile, which would take more code: the compiler may take an earlier value only where nothing comes in
        // between that may write memory, and then the next check is early enough.
        self.epoch().armed() == unsafe { self.word.get().read() }
    }

    #[inline(always)]
    pub(crate) fn word(&self) -> u64 {
        // SAFETY: the word is a static, a field of `self`, or a word of the thread that lives as long.
        unsafe { self.word.get().read_volatile() }
    }

    /// Whether the rows of this thread have one at `offset`, and may be used.
    #[inline(always)]
    pub(crate) fn has(&self, offset: u32) -> bool {
        offset < self.len.load(Relaxed)
    }

    /// # Safety
    ///
    /// [`has`](Self::has) has returned true for the offset of a callsite.
    #[inline(always)]
    pub(crate) unsafe fn row(&self, offset: u32) -> &Row {
        // SAFETY: guaranteed by the caller: the array has a row there. It is freed only after the thread's end has set `len` to 0.
        unsafe { &*self.rows.get().byte_add(offset as usize) }
    }

    /// Links the frame of a call that starts. `in_register` is the same frame.
    #[inline(always)]
    pub(crate) fn enter(&self, frame: &Frame, in_register: &Frame) {
        self.calls.set(self.calls.get().wrapping_add(1));
        self.link(frame, in_register);
    }

    /// The same for a timed call.
    pub(crate) fn enter_uncounted(&self, frame: &Frame) {
        self.link(frame, frame);
    }

    #[inline(always)]
    fn link(&self, frame: &Frame, in_register: &Frame) {
        frame.set_outer(self.innermost.get());
        // A signal handler that comes in between must find the frame complete.
        compiler_fence(SeqCst);
        self.innermost.set(in_register);
    }

    /// Unlinks the frame of a call that ends.
    ///
    /// # Safety
    ///
    /// The frame was given its `outer` on this thread.
    #[inline(always)]
    pub(crate) unsafe fn leave(&self, frame: &Frame) {
        // SAFETY: guaranteed by the caller.
        self.innermost.set(unsafe { frame.outer() });
    }

    /// The last tick of the clock.
    pub(crate) fn last_tick(&self) -> Tick {
        self.epoch().last()
    }

    #[inline(always)]
    pub(crate) fn epoch(&self) -> &'static Epoch {
        // SAFETY: the field holds the address of a static.
        unsafe { &*self.epoch.get() }
    }

    /// Follows another clock, and the word of a simulated thread.
    #[cfg(all(test, not(shuttle)))]
    pub(crate) fn simulate(&self, epoch: &'static Epoch, detector: &Detector) {
        self.epoch.set(epoch);
        self.word.set(detector.word().expect("it is attached"));
    }

    pub(crate) fn innermost(&self) -> *const Frame {
        self.innermost.get()
    }

    /// The numbers of the callsites of the running calls that have a frame, from the inside out. Not all of a deep recursion.
    pub(crate) fn running(&self) -> impl Iterator<Item = u32> {
        const MOST: usize = 1000;
        let mut at = self.innermost();
        let frames = std::iter::from_fn(move || {
            // SAFETY: linked frames belong to running functions, so they exist, and both of their fields are written.
            let (frame, who) = unsafe { at.as_ref().map(|frame| (frame, frame.who()))? };
            // SAFETY: as above.
            at = unsafe { frame.outer() };
            Some(match who {
                Who::Fresh(callsite) => callsite.number(),
                Who::Placed(place) => self.paths().and_then(|paths| paths.number_of(place)),
            })
        });
        frames.take(MOST).flatten()
    }

    /// The light calls of this thread since the last time that this was asked.
    pub(crate) fn new_calls(&self) -> u64 {
        let calls = self.calls.get();
        calls.wrapping_sub(self.accounted.replace(calls))
    }

    /// The thread's paths; `None` before its first light call, and after its end.
    pub(crate) fn paths(&self) -> Option<&Paths> {
        // SAFETY: the pointer is null, or was set by `begin`, whose caller keeps the paths until `end`.
        unsafe { self.paths.get().as_ref() }
    }

    /// Begins to use the word that the detector has found, or one of the thread's own. The paths must live until [`end`](Self::end). In the
    /// child of a fork, running calls have places in the parent's paths, which they lose.
    pub(crate) fn begin(&self, detector: &Detector, paths: &Paths) {
        if let Some(old) = self.paths() {
            // SAFETY: the frame is this thread's innermost one. In the child of a fork, the parent's paths are never freed.
            unsafe { old.take_places_from(self.innermost.get()) };
        }
        let word = detector.word().unwrap_or(self.own_word.as_ptr());
        self.word.set(word);
        self.paths.set(paths);
    }

    /// Begins to count calls, where no times are known. Without a clock that ticks, no probe finds anything.
    pub(crate) fn begin_to_count(&self) {
        self.use_own_word();
        self.set_own_word(self.epoch().armed());
    }

    /// Forgets the rows, in the child of a fork, where they are the parent's.
    #[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
    pub(crate) fn forget_rows(&self) {
        self.invalidate();
        self.whole_len.set(0);
    }

    /// Begins to use a word of the thread's own, because another library uses the kernel's.
    pub(crate) fn use_own_word(&self) {
        self.word.set(self.own_word.as_ptr());
    }

    /// Whether the word is one of the thread's own, which the kernel does not clear.
    pub(crate) fn has_own_word(&self) -> bool {
        ptr::eq(self.word.get(), self.own_word.as_ptr())
    }

    pub(crate) fn set_own_word(&self, value: u64) {
        self.own_word.set(value);
    }

    /// Sets the rows to use from now on. They must live until [`end`](Self::end).
    pub(crate) fn set_rows(&self, rows: &[Row]) {
        // A signal handler may come in between. The old rows stay.
        self.len.store(0, Relaxed);
        compiler_fence(SeqCst);
        self.rows.set(rows.as_ptr());
        compiler_fence(SeqCst);
        self.whole_len.set(size_of_val(rows) as u32);
        self.validate();
    }

    /// Makes the thread use its rows again after [`invalidate`](Self::invalidate).
    pub(crate) fn validate(&self) {
        self.len.store(self.whole_len.get(), Relaxed);
    }

    /// Sends the next start through the cold path. Any thread may call this.
    pub(crate) fn invalidate(&self) {
        self.len.store(0, Relaxed);
    }

    /// Whether the thread has a row at `offset`, even after [`invalidate`](Self::invalidate).
    pub(crate) fn has_invalidated(&self, offset: u32) -> bool {
        offset < self.whole_len.get()
    }

    /// Uses other rows while `f` runs, for the calibration. No probe takes the cold path meanwhile, unless the clock ticks.
    pub(crate) fn with_rows(&self, rows: &[Row], f: impl FnOnce()) {
        let (own, own_len) = (self.rows.get(), self.whole_len.get());
        let (word, calls) = (self.word.get(), self.calls.get());
        self.own_word.set(self.epoch().armed());
        self.use_own_word();
        self.set_rows(rows);
        f();
        self.invalidate();
        self.rows.set(own);
        self.whole_len.set(own_len);
        self.word.set(word);
        self.calls.set(calls);
    }

    /// Ends the use of rows and paths, because the thread ends.
    pub(crate) fn end(&self) {
        self.invalidate();
        self.whole_len.set(0);
        self.paths.set(ptr::null());
        self.word.set(&raw const NEVER);
    }
}
