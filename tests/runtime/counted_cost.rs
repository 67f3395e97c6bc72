//! What a counted call costs is measured again while the program runs. A test program of its own, because a pause or a reset in another
//! test would take time in the registry, too.

use std::time::{Duration, Instant};

use tests::{call, row, sampled_callsite};
use tsc_runtime::tsc::Lfence;

/// The measurements are part of the time that is not from probes. Apart from them, only the first call has such time.
#[test]
fn counting_is_measured_again() {
    let outer = sampled_callsite::<Lfence>("outer", Some(1));
    let inner = sampled_callsite::<Lfence>("inner", Some(8));
    let in_registry = || row("outer").registration_overhead_ticks();
    let mut calls = 0;
    let mut run = || {
        call::<Lfence>(outer, || {
            (0..100_000).for_each(|_| call::<Lfence>(inner, || ()));
        });
        calls += 100_000;
    };
    run();
    let first = in_registry();
    assert!(first > 0.0);
    let began = Instant::now();
    while in_registry() == first {
        assert!(began.elapsed() < Duration::from_secs(60), "{first} ticks");
        run();
    }
    let report = tsc_runtime::snapshot();
    let overhead = &report.clock().overheads()[0];
    let counted = overhead.counted_ticks().expect("calls were counted");
    assert_eq!(overhead.counted_in_place_ticks(), Some(1.125 * counted));
    assert_eq!(row("inner").calls(), calls);
}
