//! The first call of a process takes no time of the program's. A function's first call takes nothing from the program's allocator, unless it is
//! the first one of a thread or of a kind of probe. This is a process with one test: only one call is the first, and a thread that waits for a
//! lock of the registry's, because others make first calls, is parked, which allocates.

use tests::allocations::{Counting, allocations};
use tsc_runtime::{cycles, snapshot};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

macro_rules! functions {
    ($caller:ident: $(#[$attribute:meta] $name:ident)*) => {
        $(#[$attribute] fn $name(value: u64) -> u64 { value.wrapping_mul(3) })*
        fn $caller() { $(std::hint::black_box($name(1));)* }
    };
}

functions!(call_first: #[cycles] timed #[cycles(light)] light);
functions!(call_new: #[cycles] a #[cycles(light)] b #[cycles] c #[cycles(light)] d #[cycles] e #[cycles(light)] f
    #[cycles] g #[cycles(light)] h #[cycles] i #[cycles(light)] j #[cycles] k #[cycles(light)] l #[cycles] m
    #[cycles(light)] n #[cycles] o #[cycles(light)] p #[cycles] q #[cycles(light)] r #[cycles] s #[cycles(light)] t);

/// Most of it is the measurement of what probes cost.
#[cfg(unix)]
fn check_time_of_first_call() {
    let began = tests::cpu_time();
    std::hint::black_box(timed(1));
    let taken = tests::cpu_time() - began;
    let counted = snapshot().process().cpu_ns().expect("unix tells");
    assert!(
        u128::from(counted) < taken.as_nanos() / 2,
        "{counted} of {taken:?}"
    );
}

#[test]
fn first_calls_take_no_memory_and_no_time() {
    #[cfg(unix)]
    check_time_of_first_call();
    call_first();
    // Timed calls beside light probes are calibrated, too.
    call_first();
    let before = allocations();
    call_new();
    assert_eq!(allocations(), before);
    let report = snapshot();
    for name in ["a", "b", "s", "t"] {
        assert_eq!(report.callsite(name).map(|row| row.calls()), Some(1));
    }
}
