//! A report of very many callsites is exact. The test prints how long it takes: `cargo test --release -p tests --test scale --
//! --nocapture`.

use std::thread;
use std::time::Instant;

use tests::{call, callsite};
use tsc_runtime::__private::Lfence;
use tsc_runtime::{Report, take};

fn timed<T>(what: &str, f: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = f();
    println!("{what}: {:.0?}", began.elapsed());
    result
}

#[test]
fn twenty_thousand_callsites() {
    const CALLSITES: usize = 20_000;
    const THREADS: usize = 3;
    let sites: Vec<_> = (0..CALLSITES)
        .map(|number| callsite::<Lfence>(format!("many {number}")))
        .collect();
    // Each thread calls callsite number n n % 5 + 1 times.
    let work = || {
        for (number, site) in sites.iter().enumerate() {
            (0..=number % 5).for_each(|_| call::<Lfence>(site, || {}));
        }
    };
    let check = |report: &Report| {
        let rows = report.callsites().iter();
        let mut found = 0;
        for (row, number) in rows.filter_map(|row| Some((row, row.name().strip_prefix("many ")?))) {
            let number: usize = number.parse().unwrap();
            assert_eq!(row.calls(), (THREADS * (number % 5 + 1)) as u64, "{number}");
            assert_eq!(row.threads(), THREADS as u64, "{number}");
            found += 1;
        }
        assert_eq!(found, CALLSITES);
    };
    // Two threads have ended and one has not when the report is made.
    timed("the calls", || {
        thread::scope(|scope| (1..THREADS).for_each(|_| _ = scope.spawn(work)));
        work();
    });
    let report = timed("a report of 20 000 callsites", take);
    check(&report);
    let text = timed("as text", || report.to_string());
    let rows = text.lines().filter(|line| line.starts_with(":CLK: many "));
    assert_eq!(rows.count(), CALLSITES);
    let json = timed("as JSON", || serde_json::to_string(&report).unwrap());
    let read = timed("read", || Report::from_json(&json).unwrap());
    check(&read);
}
