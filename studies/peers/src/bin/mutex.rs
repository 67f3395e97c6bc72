//! Written by hand: a `parking_lot::Mutex` for each callsite, with a count and a sum of unfenced RDTSC differences.

use parking_lot::Mutex;
use peers::clock::{ns_per_tick, ticks};
use peers::{Contestant, Reading, Readings};

struct Record {
    name: &'static str,
    calls: u64,
    ticks: u64,
}

struct Scope {
    record: &'static Mutex<Record>,
    start: u64,
}

impl Drop for Scope {
    fn drop(&mut self) {
        let elapsed = ticks().wrapping_sub(self.start);
        let mut record = self.record.lock();
        record.calls += 1;
        record.ticks += elapsed;
    }
}

/// Every callsite, once it has run.
static RECORDS: Mutex<Vec<&'static Mutex<Record>>> = Mutex::new(Vec::new());

#[cold]
fn register(record: &'static Mutex<Record>) {
    RECORDS.lock().push(record);
}

macro_rules! scope {
    ($name:literal) => {
        static RECORD: Mutex<Record> = Mutex::new(Record {
            name: $name,
            calls: 0,
            ticks: 0,
        });
        static REGISTERED: std::sync::Once = std::sync::Once::new();
        REGISTERED.call_once(|| register(&RECORD));
        let _scope = Scope {
            record: &RECORD,
            start: ticks(),
        };
    };
}

peers::annotate!(scope);

struct Locked;

impl Contestant for Locked {
    fn start() -> Self {
        Self
    }

    fn report(self) -> Readings {
        Readings::of(|name| {
            RECORDS
                .lock()
                .iter()
                .map(|record| record.lock())
                .find(|record| record.name == name)
                .map(|record| {
                    Reading::new(
                        record.calls,
                        record.ticks as f64 / record.calls as f64 * ns_per_tick(),
                    )
                })
        })
    }
}

fn main() {
    peers::run::<Locked>(&FUNCTIONS);
}
