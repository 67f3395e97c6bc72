//! Tells whether this thread was preempted, migrated or signalled between two points, without a system call.
//!
//! # How, and why it is sound
//!
//! Linux lets a thread name a *restartable sequence*: it stores the address of a descriptor in `rseq_cs`, a word of its own that
//! the kernel knows. Whenever the kernel has preempted, migrated or signalled the thread, and before it lets the thread go on, it
//! looks at that word: if the thread was inside the named code it is sent to the abort handler, and if it was outside, the
//! kernel stores null in the word, for the thread has evidently left the sequence. That second half is the detector. The
//! descriptor armed here names a sequence of length zero, which no thread is ever inside, so the kernel never jumps anywhere and
//! always clears the word. Armed at the start and still armed at the stop: nothing happened. (Linux, `kernel/rseq.c`,
//! `rseq_ip_fixup` and `clear_rseq_cs`.)
//!
//! - *A nested probe re-arms the word*, which would hide from the outer probe what happened before. So every re-arming notes the
//!   time, and a stop asks for both: the word still armed, and no re-arming since the start.
//! - *The word has other users* (allocators with per-CPU caches). It is armed only when it is null or already ours; any other
//!   value, at the start or the stop, makes the answer [`Interruption::Unknown`], never a guess.
//! - *Registration is glibc's* (2.35 and later, which exports where the word is), and two registrations conflict. So nothing is
//!   registered where glibc is: with an older one, or `GLIBC_TUNABLES=glibc.pthread.rseq=0`, the answer is `Unknown`, and the report
//!   says why. musl registers nothing and keeps others from nothing: there each thread that measures registers itself, if it is the
//!   first to do so, and takes that back when it ends; see `own_rseq.rs`.
//! - *The kernel checks a descriptor before it clears the word*, and kills the process if the four bytes before the abort
//!   address are not the signature glibc registered. They are; see `rseq.rs`.
//! - *A descriptor must outlive its arming*, or the kernel reads freed memory after `dlclose`: it is a static, and the word is
//!   disarmed when the thread ends.
//!
//! What it does not see: interrupts that return to the same thread without rescheduling it (timer ticks), and time that a
//! hypervisor gives to another guest. From Linux 6.19 a switch inside a blocking system call is not reported either. The
//! report's outliers speak for those.

#![cfg(feature = "on")]

use std::cell::Cell;
use std::ptr;

use crate::on_cpu;
use crate::tsc::{Ticks, clock};

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod rseq;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
#[path = "absent.rs"]
mod rseq;

/// What is known of the time between a start and a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// Neither preempted nor migrated nor signalled.
    Clean,
    /// At least one of them.
    Interrupted,
    /// The platform cannot tell, or another library used the word meanwhile.
    Unknown,
}

/// What a thread that is not attached looks at: a word in another's use, for good.
static NOT_OURS: u64 = 1;

/// What a thread keeps to tell its interruptions by.
#[derive(Debug)]
pub(crate) struct Detector {
    /// This thread's `rseq_cs`, or [`NOT_OURS`].
    word: Cell<*mut u64>,
    /// When the word was last armed, or the thread last took a cold path: a stop looks closer at what started before.
    armed_at: Cell<Ticks>,
    /// When it was last armed.
    rearmed_at: Cell<Ticks>,
    /// When the thread last took a cold path, whose cost is told apart from the probes'.
    registered_at: Cell<Ticks>,
    /// All ones if every call is to be looked at, else 0.
    closely: Cell<Ticks>,
}

impl Detector {
    pub(crate) const fn new() -> Self {
        Self {
            word: Cell::new((&raw const NOT_OURS).cast_mut()),
            armed_at: Cell::new(0),
            rearmed_at: Cell::new(0),
            registered_at: Cell::new(0),
            closely: Cell::new(0),
        }
    }

    #[inline(always)]
    fn seen(&self) -> u64 {
        // SAFETY: the word is this thread's rseq_cs, which lives as long as the thread, or the static NOT_OURS.
        unsafe { self.word.get().read_volatile() }
    }

    /// Whether the word is armed, so that a start need do nothing.
    #[inline(always)]
    pub(crate) fn is_armed(&self) -> bool {
        self.seen() == rseq::descriptor()
    }

    /// Whether nothing has happened since a start at `start` that found or made the word armed.
    #[inline(always)]
    pub(crate) fn is_clean_since(&self, start: Ticks) -> bool {
        self.is_armed() && self.armed_at.get() <= start
    }

    /// Arms the word, for what follows. Whether it was cleared before, so that this thread has been interrupted since the last check,
    /// or was never armed.
    pub(crate) fn arm(&self) -> bool {
        let was_cleared = self.seen() == 0;
        if was_cleared {
            let now = on_cpu::now();
            self.armed_at.set(now | self.closely.get());
            self.rearmed_at.set(now);
            // SAFETY: as in `seen`; NOT_OURS is not 0, so what is written is rseq_cs, with a valid descriptor's address.
            unsafe { self.word.get().write_volatile(rseq::descriptor()) };
        }
        was_cleared
    }

    /// Whether no call is to pass [`is_clean_since`](Self::is_clean_since) from now on, so that each leaves by the way for unusual ones.
    pub(crate) fn look_at_every_call(&self, every: bool) {
        let closely = if every { Ticks::MAX } else { 0 };
        self.closely.set(closely);
        let armed_at = self.rearmed_at.get().max(self.registered_at.get());
        self.armed_at.set(armed_at | closely);
    }

    /// What [`is_clean_since`](Self::is_clean_since) is where every call is looked at.
    #[inline(always)]
    pub(crate) fn is_clean_in_tree(&self, start: Ticks) -> bool {
        self.is_armed() && self.rearmed_at.get() <= start && self.registered_at.get() <= start
    }

    /// Whether the word was armed anew after `start`.
    pub(crate) fn rearmed_since(&self, start: Ticks) -> bool {
        self.rearmed_at.get() > start
    }

    /// What happened since a start at `start`, before which [`arm`](Self::arm) was called.
    pub(crate) fn verdict(&self, start: Ticks) -> Interruption {
        match self.seen() {
            seen if seen == rseq::descriptor() && self.rearmed_at.get() <= start => {
                Interruption::Clean
            }
            seen if seen == rseq::descriptor() || seen == 0 => Interruption::Interrupted,
            _ => Interruption::Unknown,
        }
    }

    /// The thread has taken a cold path that ended at `now`. Calls in flight will leave by [`verdict`](Self::verdict), which costs
    /// the others nothing.
    pub(crate) fn note_registration(&self, now: Ticks) {
        self.registered_at.set(now);
        self.armed_at.set(now | self.closely.get());
    }

    /// Whether the thread has taken a cold path since a start at `start`.
    #[inline(always)]
    pub(crate) fn registered_since(&self, start: Ticks) -> bool {
        self.registered_at.get() > start
    }

    /// Finds this thread's word. Until then, and where there is none, every verdict is [`Interruption::Unknown`].
    pub(crate) fn attach(&self) {
        if let Ok(word) = rseq::attach() {
            self.word.set(word);
        }
    }

    /// Runs `f` on a thread that is attached, as those that measure are: one that is not yet, or no longer, is so meanwhile.
    pub(crate) fn attached<T>(&self, f: impl FnOnce() -> T) -> T {
        let is_attached = !ptr::eq(self.word.get(), &raw const NOT_OURS);
        if is_attached {
            return f();
        }
        self.attach();
        let result = f();
        self.detach();
        result
    }

    #[cfg(test)]
    pub(crate) fn attach_to(&self, word: *mut u64) {
        self.word.set(word);
    }

    /// Disarms this thread's word and forgets it: the thread ends.
    pub(crate) fn detach(&self) {
        let word = self.word.replace((&raw const NOT_OURS).cast_mut());
        // SAFETY: as in `seen`; NOT_OURS never equals the descriptor's address, so it is not written.
        unsafe {
            if word.read_volatile() == rseq::descriptor() {
                word.write_volatile(0);
            }
        }
        if !ptr::eq(word, &raw const NOT_OURS) {
            rseq::detach();
        }
    }
}

/// Why interruptions cannot be told on this thread, if they cannot. Where the counter may not be read, it is not known when the word was
/// armed.
pub(crate) fn unavailable() -> Option<&'static str> {
    let no_counter = || {
        clock::availability()
            .err()
            .map(|_| "the counter is not read")
    };
    rseq::unavailable().or_else(no_counter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsc::{FencePolicy, Unfenced};

    /// What the kernel does on a preemption.
    fn interrupt(detector: &Detector) {
        // SAFETY: the tests below let `word` point to a variable of theirs.
        unsafe { detector.word.get().write_volatile(0) }
    }

    #[test]
    fn unattached_thread_knows_nothing() {
        let detector = Detector::new();
        detector.arm();
        assert_eq!(detector.verdict(Unfenced::start()), Interruption::Unknown);
    }

    #[test]
    fn foreign_descriptor_is_left_alone() {
        let mut foreign: u64 = 0x1000;
        let detector = Detector::new();
        detector.word.set(&raw mut foreign);
        detector.arm();
        assert_eq!(detector.verdict(Unfenced::start()), Interruption::Unknown);
        detector.detach();
        assert_eq!(foreign, 0x1000);
    }

    #[test]
    fn rearming_inside_does_not_hide_an_interruption() {
        let mut word: u64 = 0;
        let detector = Detector::new();
        detector.word.set(&raw mut word);
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
        assert_eq!(word, 0);
    }

    #[test]
    fn cold_path_is_no_interruption() {
        let mut word: u64 = 0;
        let detector = Detector::new();
        detector.word.set(&raw mut word);
        detector.arm();
        let outer = Unfenced::start();
        detector.note_registration(outer + 1);
        assert!(!detector.is_clean_since(outer) && detector.registered_since(outer));
        assert_eq!(detector.verdict(outer), Interruption::Clean);
        let inner = outer + 1;
        assert!(detector.is_clean_since(inner) && !detector.registered_since(inner));
        interrupt(&detector);
        assert_eq!(detector.verdict(outer), Interruption::Interrupted);
        detector.detach();
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
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
        // SAFETY: raises a signal that has a handler.
        unsafe { libc::raise(libc::SIGUSR2) };
        assert_eq!(detector.verdict(start), Interruption::Interrupted);

        let mut clean = 0;
        for _ in 0..1000 {
            detector.arm();
            let start = Unfenced::start();
            // SAFETY: getppid takes nothing and cannot fail.
            unsafe { libc::syscall(libc::SYS_getppid) };
            clean += u32::from(detector.verdict(start) == Interruption::Clean);
        }
        // A preemption may fall on any of them; on most it does not.
        assert!(
            clean > 900,
            "{clean} of 1000 system calls left the word alone"
        );
        detector.detach();
    }
}
