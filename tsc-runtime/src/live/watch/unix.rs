//! The thread that waits for signals, and what it does after one has arrived.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use super::{Request, Settings, semaphore, signals, watch};
use crate::environment;

pub(super) use signals::{end_by, name};

pub(super) fn begin(settings: &'static Settings) {
    let ending: &[i32] = if settings.signals {
        &signals::ENDING
    } else {
        &[]
    };
    let mut wanted: Vec<i32> = ending
        .iter()
        .copied()
        .filter(|&signal| Some(signal) != settings.dump_signal)
        .filter(|&signal| signals::is_at_default(signal))
        .collect();
    if let Some(signal) = settings.dump_signal {
        if signals::is_at_default(signal) {
            wanted.push(signal);
        } else {
            environment::complain(&format!(
                "TSC_DUMP_SIGNAL={} has no effect: the program handles this signal itself",
                signals::name(signal)
            ));
        }
    }
    if wanted.is_empty() && settings.every.is_none() {
        return;
    }
    semaphore::begin();
    if spawn(settings).is_ok() {
        signals::catch(&wanted);
    }
}

#[cfg_attr(miri, allow(dead_code, reason = "Miri forks no process"))]
pub(super) fn start_from_zero() {
    signals::release();
}

/// Starts the thread with all signals blocked, so that the program's own handlers do not run on it.
fn spawn(settings: &'static Settings) -> io::Result<()> {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: each set is initialised by the first function that receives it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let spawned = std::thread::Builder::new()
        .name("tsc-report".to_owned())
        .spawn(move || {
            watch(settings, |time| {
                semaphore::wait(time);
                signals::take(settings.dump_signal)
            });
        });
    // SAFETY: `before` was initialised above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    spawned.map(drop)
}

/// The requests of the caught signals.
pub(super) fn requests(
    signals: impl Iterator<Item = i32>,
    dump_signal: Option<i32>,
) -> Vec<Request> {
    signals
        .map(|signal| {
            if Some(signal) == dump_signal {
                Request::Report
            } else {
                Request::End(signal)
            }
        })
        .collect()
}
