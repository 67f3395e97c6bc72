//! The thread that waits for signals, and the signals that wake it: those that the program leaves at their default behaviour, as long as it
//! does.
//!
//! A library that installs its handlers later (signal-hook, and tokio with it) calls the earlier handler from its own. So the handler here
//! checks whether it is still the one that the system calls. If it is not, the program handles the signal.

use std::panic::catch_unwind;
use std::ptr;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicI32, AtomicU32};

use super::{STACK, Settings, complain_if_wanted, report_now, semaphore, watch};
use crate::environment;
use crate::live::settings::{SIGNALS, settings};
use crate::live::snapshot::report_at_end;
use crate::process::signals::set_of;
use crate::process::{thread, written};
use tsc_report::Ended;

/// The signals with which users end a process, if the program does not handle them.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// A bit for each signal that has arrived.
static CAME: AtomicU32 = AtomicU32::new(0);
/// A bit for each signal that is caught.
static CAUGHT: AtomicU32 = AtomicU32::new(0);
/// The process in which the waiting thread exists.
static PROCESS: AtomicI32 = AtomicI32::new(0);

pub(super) fn begin(settings: &'static Settings) {
    let asked = settings.dump_signal;
    let ending = ENDING.iter().filter(|_| settings.signals);
    let mut wanted: Vec<i32> = ending.copied().chain(asked).collect();
    wanted.retain(|&signal| disposition(signal) == Some(libc::SIG_DFL));
    if let Some(signal) = asked.filter(|signal| !wanted.contains(signal)) {
        let why = match disposition(signal) {
            Some(libc::SIG_IGN) => "this process ignores the signal, as after nohup",
            _ => "the program handles this signal itself",
        };
        environment::complain(&format!(
            "TSC_DUMP_SIGNAL={} has no effect: {why}",
            name(signal)
        ));
    }
    if wanted.is_empty() && settings.every.is_none() {
        return;
    }
    semaphore::begin();
    let spawned = thread::spawn("tsc-report", STACK, move || {
        watch(settings, |time| {
            semaphore::wait(time);
            react(settings);
        });
    });
    match spawned {
        Ok(_) => catch(&wanted),
        Err(why) => complain_if_wanted(settings, &why),
    }
}

const fn bit(signal: i32) -> u32 {
    1 << signal
}

fn signals_in(bits: u32) -> impl Iterator<Item = i32> {
    (1..u32::BITS as i32).filter(move |&signal| bits & bit(signal) != 0)
}

/// What the system does at the signal.
fn disposition(signal: i32) -> Option<libc::sighandler_t> {
    // SAFETY: the call only reads the disposition, which is initialised if it succeeds. It may be made in a signal handler.
    let current = unsafe { written(|current| libc::sigaction(signal, ptr::null(), current)) };
    current.map(|current: libc::sigaction| current.sa_sigaction)
}

fn set_disposition(signal: i32, handler: libc::sighandler_t, flags: libc::c_int) {
    // SAFETY: all zeros are a valid disposition, with no flags and an empty mask. The calls may be made in a signal handler.
    unsafe {
        let mut disposition: libc::sigaction = std::mem::zeroed();
        disposition.sa_sigaction = handler;
        disposition.sa_flags = flags;
        libc::sigemptyset(&raw mut disposition.sa_mask);
        libc::sigaction(signal, &raw const disposition, ptr::null_mut());
    }
}

/// Whether the system calls this module's handler, and not another one that may call it.
fn is_caught_here(signal: i32) -> bool {
    disposition(signal) == Some(handler_address())
}

fn handler_address() -> libc::sighandler_t {
    on_signal as extern "C" fn(i32) as libc::sighandler_t
}

/// Catches the given signals, but for those that the program has begun to handle while the thread was started.
fn catch(signals: &[i32]) {
    // SAFETY: the call always succeeds.
    PROCESS.store(unsafe { libc::getpid() }, SeqCst);
    let has_default = |signal: &&i32| disposition(**signal) == Some(libc::SIG_DFL);
    for &signal in signals.iter().filter(has_default) {
        CAUGHT.fetch_or(bit(signal), Relaxed);
        // By default this signal would have ended the program. So the program need not be prepared for system calls that a signal
        // interrupts.
        let flags = libc::SA_RESTART | libc::SA_ONSTACK;
        set_disposition(signal, handler_address(), flags);
    }
}

/// Restores the defaults in the child of a fork, where no thread waits, except for signals that the program has changed.
#[cfg_attr(miri, allow(dead_code, reason = "Miri forks no process"))]
pub(super) fn start_from_zero() {
    let caught = CAUGHT.swap(0, Relaxed);
    CAME.store(0, Relaxed);
    for signal in signals_in(caught) {
        if is_caught_here(signal) {
            set_disposition(signal, libc::SIG_DFL, 0);
        }
    }
}

/// Everything here is permitted in a signal handler: reading and setting dispositions, `getpid`, atomics, `sem_post`, `raise`.
extern "C" fn on_signal(signal: i32) {
    if !is_caught_here(signal) {
        return;
    }
    // SAFETY: the call always succeeds.
    let has_thread = PROCESS.load(SeqCst) == unsafe { libc::getpid() };
    // Not in a child process that shares its parent's memory.
    let came_before = || CAME.fetch_or(bit(signal), SeqCst) & bit(signal) != 0;
    let is_ending = ENDING.contains(&signal) && !asks_for_report(settings(), signal);
    // No thread waits in a child process that was created without the fork handlers. And a user who sends a signal to end the process
    // twice does not want to wait.
    if !has_thread || (came_before() && is_ending) {
        set_disposition(signal, libc::SIG_DFL, 0);
        // SAFETY: the signal is sent to this process. It is blocked until the handler returns, and then does what it does by default.
        unsafe { libc::raise(signal) };
        return;
    }
    semaphore::post();
}

/// Whether the program makes a report at the signal and continues.
fn asks_for_report(settings: &Settings, signal: i32) -> bool {
    settings.dump_signal == Some(signal)
}

/// Does what the signals ask for that have arrived since the last call.
fn react(settings: &Settings) {
    // A signal that ends the process stays marked, so that a second one ends it at once.
    let kept = ENDING.into_iter();
    let kept = kept.filter(|&signal| !asks_for_report(settings, signal));
    let came = CAME.fetch_and(kept.map(bit).sum(), SeqCst);
    for signal in signals_in(came) {
        match asks_for_report(settings, signal) {
            true => report_now(),
            false => end_by(signal),
        }
    }
}

/// Makes the last report, and then does what the signal does by default. Returns only if that is nothing, as in the first process of a
/// container.
fn end_by(signal: i32) {
    environment::patience::HURRIES.store(true, Relaxed);
    let _ = catch_unwind(|| {
        report_at_end(|| Ended {
            reason: "signal".to_owned(),
            signal: Some(name(signal)),
            ..Ended::default()
        });
    });
    set_disposition(signal, libc::SIG_DFL, 0);
    // SAFETY: the set is initialised. The signal is sent to this process, and no longer blocked on this thread.
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set_of(&[signal]), ptr::null_mut());
        libc::raise(signal);
    }
    CAME.fetch_and(!bit(signal), SeqCst);
}

fn name(signal: i32) -> String {
    let known = SIGNALS.iter().find(|(_, number)| *number == signal);
    known.map_or_else(|| "a signal".to_owned(), |(name, _)| format!("SIG{name}"))
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn signal_that_the_program_has_begun_to_handle_stays_its_own() {
        extern "C" fn handle(_: i32) {}
        let own = handle as extern "C" fn(i32) as libc::sighandler_t;
        set_disposition(libc::SIGWINCH, own, 0);
        catch(&[libc::SIGWINCH]);
        assert_eq!(disposition(libc::SIGWINCH), Some(own));
        set_disposition(libc::SIGWINCH, libc::SIG_DFL, 0);
    }
}
