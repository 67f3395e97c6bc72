//! Compares the calls that were made with those that were reported.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tsc_runtime::{Report, reset, snapshot, take};

use super::disturb::{Disturbance, Signals};
use super::work::{ALL, live};

#[derive(Default)]
pub(crate) struct Tally {
    calls: u64,
    unrecorded: u64,
    reports: u64,
    forks: u64,
    signals: u64,
    libraries: u64,
}

/// The number of threads that record during a whole round.
const THREADS: usize = 4;
const ROUND: Duration = Duration::from_secs(3);

impl Tally {
    /// Runs a round. Returns whether all of its calls were reported.
    pub(crate) fn round(&mut self, disturbance: &Disturbance) -> bool {
        reset();
        ALL.iter().for_each(|made| _ = made.take());
        let stop = AtomicBool::new(false);
        let began = Instant::now();
        let mut reported = Reported::default();
        let signals = Signals::new(1000);
        thread::scope(|scope| {
            let threads = [(); THREADS].map(|()| {
                let (signals, stop) = (&signals, &stop);
                scope.spawn(move || live(stop, |begin| signals.to_this_thread(begin)))
            });
            let (stop, signals) = (&stop, &signals);
            scope.spawn(move || signals.send_until(stop));
            let disturbances = scope.spawn(move || disturbance.until(stop));
            while began.elapsed() < ROUND {
                reported.add(&take());
                drop(snapshot());
                self.reports += 2;
            }
            stop.store(true, Relaxed);
            let (forks, libraries) = disturbances
                .join()
                .expect("the disturbing thread does not panic");
            self.forks += forks;
            self.libraries += libraries;
            // Join the threads, because the scope does not wait for the calls in the threads' destructors.
            for thread in threads {
                thread.join().expect("the calling thread does not panic");
            }
        });
        self.signals += signals.sent();
        reported.add(&take());
        self.reports += 1;
        self.compare(&reported, disturbance.pauses)
    }

    /// If a handler interrupts the recording, the calls that it makes are reported as unrecorded. Their functions are not known.
    fn compare(&mut self, reported: &Reported, paused: bool) -> bool {
        let mut sum = 0;
        let mut is_right = true;
        let mut missing = Vec::new();
        for made in ALL {
            let calls = made.take();
            let found = reported.calls.get(made.name).copied().unwrap_or(0);
            sum += calls;
            if found > calls {
                eprintln!("{}: {calls} calls made, {found} reported", made.name);
                is_right = false;
            } else if found < calls {
                missing.push(format!("{} of {}", calls - found, made.name));
            }
        }
        let found: u64 = reported.calls.values().sum();
        if !paused && found + reported.unrecorded != sum {
            eprintln!(
                "{sum} calls made, {found} reported and {} unrecorded; missing: {}",
                reported.unrecorded,
                missing.join(", ")
            );
            is_right = false;
        }
        self.calls += sum;
        self.unrecorded += reported.unrecorded;
        is_right
    }
}

#[derive(Default)]
struct Reported {
    calls: BTreeMap<String, u64>,
    unrecorded: u64,
}

impl Reported {
    fn add(&mut self, report: &Report) {
        self.unrecorded += report.unrecorded_calls();
        for row in report.callsites() {
            *self.calls.entry(row.name().to_owned()).or_default() += row.calls();
            // A larger figure has wrapped around below zero.
            assert!(row.calls() < 1 << 60 && row.running() < 1 << 30, "{row:?}");
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} calls made, all reported ({} as unrecorded); {} reports, {} forks, {} signals, {} libraries closed",
            self.calls, self.unrecorded, self.reports, self.forks, self.signals, self.libraries
        )
    }
}
