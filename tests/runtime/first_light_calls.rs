//! What the first calls take from the program's allocator in a process in which all annotated functions are light, as after `cargo tsc run --all`.
//! The first one begins the measurement, which must change the program's heap little; the others take nothing.

use std::env;

use tests::allocations::{Counting, allocations};
use tsc_runtime::cycles;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[cycles(light)]
fn first(value: u64) -> u64 {
    value.wrapping_mul(3)
}

#[cycles(light)]
fn second(value: u64) -> u64 {
    value.wrapping_mul(5)
}

/// The first call allocates less often. A copy of an environment with so many variables takes more than one block for each.
const FEW: u64 = 200;

fn allocated_by(call: fn(u64) -> u64) -> u64 {
    let before = allocations();
    std::hint::black_box(call(1));
    allocations() - before
}

#[test]
fn only_the_first_call_allocates() {
    let begun = allocated_by(first);
    assert!((1..FEW).contains(&begun), "{begun}");
    assert_eq!(allocated_by(second), 0);
}

#[test]
fn first_call_does_not_copy_the_environment() {
    let mut again = tests::program(env::current_exe().expect("the test's own path"));
    again.args(["--exact", "only_the_first_call_allocates"]);
    // The names of some are almost those of the library's.
    again.envs((0..FEW).map(|number| (format!("TSC_TICKS{number}"), "1ms")));
    let output = again.output().expect("the test starts again");
    let text = tests::text(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
