//! Written by hand: two `fetch_add`s for each callsite, for a count and a sum of unfenced RDTSC differences.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use peers::clock::{ns_per_tick, ticks};
use peers::{Contestant, Reading, Readings};

struct Record {
    name: &'static str,
    calls: AtomicU64,
    ticks: AtomicU64,
}

struct Scope {
    record: &'static Record,
    start: u64,
}

impl Drop for Scope {
    fn drop(&mut self) {
        let elapsed = ticks().wrapping_sub(self.start);
        self.record.calls.fetch_add(1, Relaxed);
        self.record.ticks.fetch_add(elapsed, Relaxed);
    }
}

/// Every callsite, once it has run.
static RECORDS: Mutex<Vec<&'static Record>> = Mutex::new(Vec::new());

#[cold]
fn register(record: &'static Record) {
    RECORDS
        .lock()
        .expect("registering does not panic")
        .push(record);
}

macro_rules! scope {
    ($name:literal) => {
        static RECORD: Record = Record {
            name: $name,
            calls: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
        };
        static REGISTERED: std::sync::Once = std::sync::Once::new();
        REGISTERED.call_once(|| register(&RECORD));
        let _scope = Scope {
            record: &RECORD,
            start: ticks(),
        };
    };
}

peers::annotate!(scope);

struct Atomic;

impl Contestant for Atomic {
    fn start() -> Self {
        Self
    }

    fn report(self) -> Readings {
        Readings::of(|name| {
            RECORDS
                .lock()
                .expect("registering does not panic")
                .iter()
                .find(|record| record.name == name)
                .map(|record| {
                    let calls = record.calls.load(Relaxed);
                    Reading::new(
                        calls,
                        record.ticks.load(Relaxed) as f64 / calls as f64 * ns_per_tick(),
                    )
                })
        })
    }
}

fn main() {
    peers::run::<Atomic>(&FUNCTIONS);
}
