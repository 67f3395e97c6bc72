//! The thread that waits for signals, and what it does after one has arrived.

use super::{Request, STACK, Settings, semaphore, signals, watch};
use crate::environment;
use crate::process::thread;

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
    let spawned = thread::spawn("tsc-report", STACK, move || {
        watch(settings, |time| {
            semaphore::wait(time);
            signals::take(settings.dump_signal)
        });
    });
    if spawned.is_ok() {
        signals::catch(&wanted);
    }
}

#[cfg_attr(miri, allow(dead_code, reason = "Miri forks no process"))]
pub(super) fn start_from_zero() {
    signals::release();
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
