//! Detects whether this thread was preempted, migrated or signalled between two points, without a system call.
//!
//! # How, and why it is sound
//!
//! Linux lets a thread declare a *restartable sequence*: the thread stores the address of a descriptor in `rseq_cs`, a word of its own
//! that the kernel knows. After the kernel has preempted, migrated or signalled the thread, and before the thread continues, the kernel
//! reads that word. If the thread is inside the declared code, the kernel makes it continue at the abort handler. If it is outside, the
//! thread has evidently left the sequence, so the kernel sets the word to null. The detector uses this second case. The descriptor that is
//! stored here declares a sequence of length zero. No thread is ever inside it, so the kernel never jumps anywhere and always clears the
//! word. If the word is armed (contains the descriptor's address) at the start and still armed at the stop, the thread was not
//! interrupted. (Linux, `kernel/rseq.c`, `rseq_ip_fixup` and `clear_rseq_cs`.)
//!
//! - *A nested probe arms the word again.* This would hide from the outer probe what happened before. So each arming of a cleared word
//!   saves the time, and a stop checks two things: that the word is armed, and that it was not armed again since the start.
//! - *The clock of light probes marks a cleared word* with a descriptor of its own: the thread has got a CPU back by this tick. If it leaves the
//!   CPU again, the mark is cleared like any other. To a check, a marked word is a cleared one.
//! - *Other libraries use the word, too* (allocators with per-CPU caches). It is armed only if it is null or already armed by us. If it
//!   has any other value at the start or the stop, the result is [`Interruption::Unknown`].
//! - *glibc registers rseq* (2.35 and later, which also exports the word's place), and two registrations conflict. So the runtime
//!   registers nothing if the C library is glibc. With an older version, or with `GLIBC_TUNABLES=glibc.pthread.rseq=0`, the result is
//!   `Unknown`, and the report gives the reason. musl neither registers rseq nor keeps others from it. There, each thread that measures
//!   registers itself if no registration exists, and unregisters itself when it ends; see `own_rseq.rs`.
//! - *The kernel checks the descriptor before it clears the word*, and kills the process if the four bytes before the abort address are
//!   not the signature that was registered. They are; see `rseq.rs`.
//! - *The descriptor must live as long as the word is armed*; otherwise the kernel would read freed memory after `dlclose`. So it is a
//!   static, and the word is disarmed when the thread ends.
//!
//! The detector does not see interrupts that return to the same thread without rescheduling it (timer ticks), and time that a hypervisor
//! gives to another guest. From Linux 6.19 on, a switch inside a blocking system call is not reported either. In the report, such calls
//! appear as outliers.

#![cfg(measuring)]

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::on_cpu;
use crate::tsc::{Ticks, clock};

#[cfg(all(linux_x86, not(miri)))]
mod rseq;
#[cfg(not(all(linux_x86, not(miri))))]
#[path = "absent.rs"]
mod rseq;

use rseq::DESCRIPTORS;
pub(crate) use rseq::Descriptor;

/// The address of [`current`].
pub(crate) const CURRENT: *const Descriptor = &raw const DESCRIPTORS[1];

/// What the detector knows about the time between a start and a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// The thread was not preempted, migrated or signalled.
    Clean,
    /// The thread was preempted, migrated or signalled.
    Interrupted,
    /// The platform has no detector, or another library used the word in the meantime.
    Unknown,
}

/// The word of a thread that is not attached: it always looks as if another library used it.
static NOT_OURS: AtomicUsize = AtomicUsize::new(1);

/// A thread's state for the detection of its interruptions.
#[derive(Debug)]
pub(crate) struct Detector {
    /// This thread's `rseq_cs`, [`NOT_OURS`], or a word of [`ignore_interruptions`](Self::ignore_interruptions).
    ///
    /// Of the kernel's 64 bits, a process of 32 bits uses the low half, which comes first.
    word: Cell<*const AtomicUsize>,
    /// A call that started before this time cannot take the fast path at its stop. It equals `changed_at`, or it is the largest number if no
    /// call may take the fast path.
    usual_since: Cell<Ticks>,
    /// When the word was last armed, or when the thread last took a cold path, whichever is later.
    changed_at: Cell<Ticks>,
    /// When the word was last armed.
    rearmed_at: Cell<Ticks>,
    /// All ones if no call may take the fast path at its stop, otherwise 0.
    closely: Cell<Ticks>,
}

impl Detector {
    pub(crate) const fn new() -> Self {
        Self {
            word: Cell::new(&raw const NOT_OURS),
            usual_since: Cell::new(0),
            changed_at: Cell::new(0),
            rearmed_at: Cell::new(0),
            closely: Cell::new(0),
        }
    }

    #[inline(always)]
    fn seen(&self) -> usize {
        self.word_in_use().load(Relaxed)
    }

    #[inline(always)]
    fn word_in_use(&self) -> &AtomicUsize {
        // SAFETY: the word is this thread's rseq_cs or another variable of this thread, which lives as long as the thread, or the static
        // NOT_OURS.
        unsafe { &*self.word.get() }
    }

    /// Whether the word is armed, so that a start does not have to arm it. Where light probes arm the word, this is usually false.
    #[inline(always)]
    pub(crate) fn is_armed(&self) -> bool {
        self.seen() == stale()
    }

    /// Whether the word is armed, by a timed or by a light probe.
    pub(crate) fn is_armed_by_any(&self) -> bool {
        let seen = self.seen();
        is_ours(seen) && !was_cleared(seen)
    }

    /// This thread's word, if the thread is attached.
    pub(crate) fn word(&self) -> Option<*const AtomicUsize> {
        self.is_attached().then(|| self.word.get())
    }

    /// Arms the word with the address of a descriptor, unless another library uses it. Returns what it contained.
    pub(crate) fn arm_with(&self, descriptor: usize) -> Seen {
        let seen = self.seen();
        if seen != 0 && !is_ours(seen) {
            return Seen::Foreign;
        }
        if was_cleared(seen) {
            let now = on_cpu::now();
            self.set_changed_at(now);
            self.rearmed_at.set(now);
        }
        // The word is null or ours, so it is neither NOT_OURS nor does another library use it.
        self.word_in_use().store(descriptor, Relaxed);
        match seen {
            0 => Seen::Cleared,
            seen if was_cleared(seen) => Seen::ClearedBeforeTick,
            _ => Seen::Armed,
        }
    }

    /// Whether the thread was not interrupted since a start at `start`, at which the word was armed.
    #[inline(always)]
    pub(crate) fn is_clean_since(&self, start: Ticks) -> bool {
        self.is_armed() && self.usual_since.get() <= start
    }

    /// Arms the word for the time that follows. Returns whether it was cleared: the thread was interrupted since the last check, or the
    /// word has never been armed.
    pub(crate) fn arm(&self) -> bool {
        was_cleared(self.seen())
            && matches!(
                self.arm_with(stale()),
                Seen::Cleared | Seen::ClearedBeforeTick
            )
    }

    /// If `every` is true, [`is_clean_since`](Self::is_clean_since) returns false for every call from now on, so that no call takes the
    /// fast path at its stop.
    pub(crate) fn look_at_every_call(&self, every: bool) {
        let closely = if every { Ticks::MAX } else { 0 };
        self.closely.set(closely);
        self.set_changed_at(self.changed_at.get());
    }

    fn set_changed_at(&self, now: Ticks) {
        self.changed_at.set(now);
        self.usual_since.set(now | self.closely.get());
    }

    /// Like [`is_clean_since`](Self::is_clean_since), also while [`look_at_every_call`](Self::look_at_every_call) is in effect: the thread was not
    /// interrupted, has taken no cold path and has kept no slow call.
    #[inline(always)]
    pub(crate) fn is_undisturbed_since(&self, start: Ticks) -> bool {
        self.is_armed_by_any() && self.changed_at.get() <= start
    }

    /// Whether the word was armed again after `start`.
    pub(crate) fn rearmed_since(&self, start: Ticks) -> bool {
        self.rearmed_at.get() > start
    }

    /// What happened since a start at `start`, before which [`arm`](Self::arm) was called.
    pub(crate) fn verdict(&self, start: Ticks) -> Interruption {
        match self.seen() {
            seen if was_cleared(seen) => Interruption::Interrupted,
            seen if is_ours(seen) && self.rearmed_at.get() <= start => Interruption::Clean,
            seen if is_ours(seen) => Interruption::Interrupted,
            _ => Interruption::Unknown,
        }
    }

    /// Notes that the thread has taken a cold path, or has kept a slow call, which ended at `end`. The calls that are running then call
    /// [`verdict`](Self::verdict) at their stop; other calls do not pay for it.
    pub(crate) fn note(&self, end: Ticks) {
        self.set_changed_at(end.max(self.changed_at.get()));
    }

    fn is_attached(&self) -> bool {
        !ptr::eq(self.word.get(), &raw const NOT_OURS)
    }

    /// Finds this thread's word, if it is not attached. Before this, and if there is no word, every verdict is [`Interruption::Unknown`].
    pub(crate) fn attach(&self) {
        if !self.is_attached()
            && let Ok(word) = rseq::attach()
        {
            self.word.set(word);
        }
    }

    /// Runs `f` with this thread attached, like a thread that measures. If the thread is not attached, it is attached for the time of `f`.
    pub(crate) fn attached<T>(&self, f: impl FnOnce() -> T) -> T {
        if self.is_attached() {
            return f();
        }
        self.attach();
        let result = f();
        self.detach();
        result
    }

    /// Attaches the thread to a word that the kernel does not know and never clears: from now on, the thread is never interrupted.
    pub(crate) fn ignore_interruptions(&self) {
        thread_local! {
            static UNKNOWN_TO_KERNEL: AtomicUsize = const { AtomicUsize::new(0) };
        }
        self.detach();
        self.word.set(UNKNOWN_TO_KERNEL.with(ptr::from_ref));
    }

    /// Disarms this thread's word and forgets it, because the thread ends.
    pub(crate) fn detach(&self) {
        // NOT_OURS never contains a descriptor's address, so it is not written.
        if is_ours(self.seen()) {
            self.word_in_use().store(0, Relaxed);
        }
        if !ptr::eq(self.word.replace(&raw const NOT_OURS), &raw const NOT_OURS) {
            rseq::detach();
        }
    }
}

/// The value of a word that is armed by a timed probe: the thread was not interrupted since. For light probes it is stale: they are to check.
#[inline(always)]
pub(crate) fn stale() -> usize {
    (&raw const DESCRIPTORS[0]).addr()
}

/// The value of a word that is armed by a light probe: nothing has happened since.
pub(crate) fn current() -> usize {
    CURRENT.addr()
}

/// The value of a word that a tick of the clock has found cleared: the thread has got a CPU back, and has not left it since, or the word would be
/// cleared again.
pub(crate) fn ticked_after_cleared() -> usize {
    (&raw const DESCRIPTORS[2]).addr()
}

/// Whether the kernel has cleared a word since it was armed.
fn was_cleared(seen: usize) -> bool {
    seen == 0 || seen == ticked_after_cleared()
}

/// Whether a word contains the address of one of our descriptors.
fn is_ours(seen: usize) -> bool {
    let first = (&raw const DESCRIPTORS).addr();
    seen.wrapping_sub(first) < size_of_val(&DESCRIPTORS)
}

/// What a word contained before it was armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The thread has not left its CPU since it was armed.
    Armed,
    /// The thread was off its CPU, or has received a signal.
    Cleared,
    /// The same, and the clock has ticked since, while the thread was on the CPU.
    ClearedBeforeTick,
    /// Another library uses the word.
    Foreign,
}

/// Why interruptions cannot be detected on this thread, if they cannot. One reason is that the counter may not be read: then the time of
/// arming is not known.
pub(crate) fn unavailable() -> Option<&'static str> {
    const UNREAD: &str = "the counter is not read";
    let no_counter = || clock::availability().is_err().then_some(UNREAD);
    rseq::unavailable().or_else(no_counter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsc::{FencePolicy, Unfenced};

    impl Detector {
        pub(crate) fn attach_to(&self, word: *const AtomicUsize) {
            self.word.set(word);
        }
    }

    /// Does what the kernel does on a preemption.
    fn interrupt(detector: &Detector) {
        detector.word_in_use().store(0, Relaxed);
    }

    #[test]
    fn unattached_thread_knows_nothing() {
        let detector = Detector::new();
        detector.arm();
        assert_eq!(detector.verdict(Unfenced::start()), Interruption::Unknown);
    }

    #[test]
    fn foreign_descriptor_is_left_alone() {
        let foreign = AtomicUsize::new(0x1000);
        let detector = Detector::new();
        detector.word.set(&raw const foreign);
        detector.arm();
        assert_eq!(detector.verdict(Unfenced::start()), Interruption::Unknown);
        detector.detach();
        assert_eq!(foreign.load(Relaxed), 0x1000);
    }

    #[test]
    fn rearming_inside_does_not_hide_an_interruption() {
        let word = AtomicUsize::new(0);
        let detector = Detector::new();
        detector.word.set(&raw const word);
        detector.arm();
        let outer = Unfenced::start();
        assert_eq!(detector.verdict(outer), Interruption::Clean);
        interrupt(&detector);
        assert_eq!(detector.verdict(outer), Interruption::Interrupted);
        detector.arm();
        let inner = Unfenced::start();
        assert_eq!(detector.verdict(inner), Interruption::Clean);
        assert_eq!(detector.verdict(outer), Interruption::Interrupted);
        detector.detach();
        assert_eq!(word.load(Relaxed), 0);
    }

    #[test]
    fn tick_does_not_hide_an_interruption() {
        let word = AtomicUsize::new(0);
        let detector = Detector::new();
        detector.word.set(&raw const word);
        let arm = || {
            word.store(ticked_after_cleared(), Relaxed);
            assert!(!detector.is_armed_by_any());
            detector.arm_with(current())
        };
        detector.arm();
        let start = Unfenced::start();
        assert_eq!(arm(), Seen::ClearedBeforeTick);
        assert_eq!(detector.verdict(start), Interruption::Interrupted);
        word.store(ticked_after_cleared(), Relaxed);
        assert_eq!(
            detector.verdict(Unfenced::start()),
            Interruption::Interrupted
        );
        assert!(detector.arm() && !detector.arm());
        assert_eq!(detector.arm_with(current()), Seen::Armed);
        word.store(ticked_after_cleared(), Relaxed);
        detector.detach();
        assert_eq!(word.load(Relaxed), 0);
    }

    #[test]
    fn cold_path_is_no_interruption() {
        let word = AtomicUsize::new(0);
        let detector = Detector::new();
        detector.word.set(&raw const word);
        detector.arm();
        let outer = Unfenced::start();
        detector.note(outer + 1);
        assert!(!detector.is_clean_since(outer));
        assert_eq!(detector.verdict(outer), Interruption::Clean);
        let inner = outer + 1;
        assert!(detector.is_clean_since(inner));
        interrupt(&detector);
        assert_eq!(detector.verdict(outer), Interruption::Interrupted);
        detector.detach();
    }

    #[test]
    fn ignored_interruptions_are_not_found() {
        let detector = Detector::new();
        detector.ignore_interruptions();
        // The thread keeps the word that is not the kernel's.
        detector.attach();
        detector.arm();
        let start = Unfenced::start();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert_eq!(detector.verdict(start), Interruption::Clean);
        detector.detach();
        assert_eq!(detector.verdict(start), Interruption::Unknown);
    }

    #[cfg(all(linux_x86, not(miri)))]
    #[test]
    fn signal_is_seen_and_system_calls_are_not() {
        extern "C" fn ignore(_: libc::c_int) {}
        if let Some(why) = unavailable() {
            eprintln!("skipped: {why}");
            return;
        }
        let detector = Detector::new();
        detector.attach();
        let handler = ignore as extern "C" fn(libc::c_int);
        // SAFETY: the handler does nothing, and SIGUSR2 has no other use in this process.
        unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
        detector.arm();
        let start = Unfenced::start();
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGUSR2) };
        assert_eq!(detector.verdict(start), Interruption::Interrupted);

        let mut clean = 0;
        for _ in 0..1000 {
            detector.arm();
            let start = Unfenced::start();
            // SAFETY: getppid has no arguments and cannot fail.
            unsafe { libc::syscall(libc::SYS_getppid) };
            clean += u32::from(detector.verdict(start) == Interruption::Clean);
        }
        // A few of these may be preempted.
        assert!(
            clean > 900,
            "{clean} of 1000 system calls left the word alone"
        );
        detector.detach();
    }
}
