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
//! - *A nested probe re-arms the word*, which would hide from the outer probe what happened before. So every re-arming advances
//!   this thread's epoch, and a stop asks for both: the word still armed, the epoch still the start's.
//! - *The word has other users* (allocators with per-CPU caches). It is armed only when it is null or already ours; any other
//!   value, at the start or the stop, makes the answer [`Verdict::Unknown`], never a guess.
//! - *Registration is glibc's* (2.35 and later, which exports where the word is). Nothing is registered here: two registrations
//!   conflict. musl, an older glibc, `GLIBC_TUNABLES=glibc.pthread.rseq=0`, another system: `Unknown`, and the report says why.
//! - *The kernel checks a descriptor before it clears the word*, and kills the process if the four bytes before the abort
//!   address are not the signature glibc registered. They are; see `rseq.rs`.
//! - *A descriptor must outlive its arming*, or the kernel reads freed memory after `dlclose`: it is a static, and the word is
//!   disarmed when the thread ends.
//!
//! What it does not see: interrupts that return to the same thread without rescheduling it (timer ticks), and time that a
//! hypervisor gives to another guest. From Linux 6.19 a switch inside a blocking system call is not reported either. The
//! report's gap rule speaks for those.

use std::cell::Cell;

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod rseq;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
#[path = "absent.rs"]
mod rseq;

/// What is known of the time between a start and a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Neither preempted nor migrated nor signalled.
    Clean,
    /// At least one of them.
    Interrupted,
    /// The platform cannot tell, or another library used the word meanwhile.
    Unknown,
}

/// The epoch of a start that found the word in use by another library or absent.
const UNKNOWN: u64 = 0;

/// What a thread that is not attached looks at: a word in another's use, for good.
static NOT_OURS: u64 = 1;

struct Detector {
    /// This thread's `rseq_cs`, or [`NOT_OURS`].
    word: Cell<*mut u64>,
    /// How often this thread armed the word; 0 is [`UNKNOWN`].
    epoch: Cell<u64>,
}

thread_local! {
    static DETECTOR: Detector = const {
        Detector { word: Cell::new((&raw const NOT_OURS).cast_mut()), epoch: Cell::new(1) }
    };
}

/// Arms the word of this thread; what it returns goes to [`verdict`].
#[inline(always)]
pub(crate) fn arm() -> u64 {
    DETECTOR.with(|detector| {
        let word = detector.word.get();
        // SAFETY: `word` is this thread's rseq_cs, which lives as long as the thread, or the static NOT_OURS.
        let seen = unsafe { word.read_volatile() };
        if seen == rseq::descriptor() {
            return detector.epoch.get();
        }
        if seen != 0 {
            return UNKNOWN;
        }
        let epoch = detector.epoch.get() + 1;
        detector.epoch.set(epoch);
        // SAFETY: as above; NOT_OURS is not 0, so what is written here is rseq_cs, with a valid descriptor's address.
        unsafe { word.write_volatile(rseq::descriptor()) };
        epoch
    })
}

/// What happened since the [`arm`] that returned `armed`.
#[inline(always)]
pub(crate) fn verdict(armed: u64) -> Verdict {
    DETECTOR.with(|detector| {
        // SAFETY: as in `arm`.
        let seen = unsafe { detector.word.get().read_volatile() };
        if seen == rseq::descriptor() && detector.epoch.get() == armed {
            Verdict::Clean
        } else if armed == UNKNOWN || (seen != 0 && seen != rseq::descriptor()) {
            Verdict::Unknown
        } else {
            Verdict::Interrupted
        }
    })
}

/// Finds this thread's word. Until then, and where there is none, every verdict is [`Verdict::Unknown`].
pub(crate) fn attach() {
    if let Ok(word) = rseq::word() {
        DETECTOR.with(|detector| detector.word.set(word));
    }
}

/// Disarms this thread's word and forgets it: the thread ends.
pub(crate) fn detach() {
    DETECTOR.with(|detector| {
        let word = detector.word.replace((&raw const NOT_OURS).cast_mut());
        // SAFETY: as in `arm`; NOT_OURS never equals the descriptor's address, so it is not written.
        unsafe {
            if word.read_volatile() == rseq::descriptor() {
                word.write_volatile(0);
            }
        }
    });
}

/// Why interruptions cannot be told on this thread, if they cannot.
pub(crate) fn unavailable() -> Option<&'static str> {
    rseq::word().err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unattached_thread_knows_nothing() {
        std::thread::spawn(|| assert_eq!(verdict(arm()), Verdict::Unknown))
            .join()
            .unwrap();
    }

    #[test]
    fn foreign_descriptor_is_left_alone() {
        std::thread::spawn(|| {
            let mut foreign: u64 = 0x1000;
            DETECTOR.with(|detector| detector.word.set(&raw mut foreign));
            let armed = arm();
            assert_eq!(verdict(armed), Verdict::Unknown);
            detach();
            assert_eq!(foreign, 0x1000);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn rearming_inside_does_not_hide_an_interruption() {
        std::thread::spawn(|| {
            let mut word: u64 = 0;
            DETECTOR.with(|detector| detector.word.set(&raw mut word));
            let outer = arm();
            assert_eq!(verdict(outer), Verdict::Clean);
            // What the kernel does on a preemption:
            DETECTOR.with(|detector| {
                // SAFETY: `word` is alive and only this thread uses it.
                unsafe { detector.word.get().write_volatile(0) }
            });
            let inner = arm();
            assert_eq!(verdict(inner), Verdict::Clean);
            assert_eq!(verdict(outer), Verdict::Interrupted);
            detach();
        })
        .join()
        .unwrap();
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
    #[test]
    fn signal_is_seen_and_system_calls_are_not() {
        extern "C" fn ignore(_: libc::c_int) {}
        if let Some(why) = unavailable() {
            eprintln!("skipped: {why}");
            return;
        }
        std::thread::spawn(|| {
            attach();
            let handler = ignore as extern "C" fn(libc::c_int);
            // SAFETY: the handler does nothing, and SIGUSR2 has no other use in this process.
            unsafe { libc::signal(libc::SIGUSR2, handler as libc::sighandler_t) };
            let armed = arm();
            // SAFETY: raises a signal that has a handler.
            unsafe { libc::raise(libc::SIGUSR2) };
            assert_eq!(verdict(armed), Verdict::Interrupted);

            let mut clean = 0;
            for _ in 0..1000 {
                let armed = arm();
                // SAFETY: getppid takes nothing and cannot fail.
                unsafe { libc::syscall(libc::SYS_getppid) };
                clean += u32::from(verdict(armed) == Verdict::Clean);
            }
            // A preemption may fall on any of them; on most it does not.
            assert!(clean > 900, "{clean} of 1000 system calls left the word alone");
            detach();
        })
        .join()
        .unwrap();
    }
}
