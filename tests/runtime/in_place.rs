//! What timing a call costs in the program, as the report states it beside the calibrated cost. A test program of its own, because the
//! figure is one for the process.
#![cfg(target_arch = "x86_64")]

use std::cell::Cell;

use tests::sampled_callsite;
use tsc_runtime::__private::{seed_sampling, simulate_time};
use tsc_runtime::tsc::{Fence, FencePolicy, Ticks, Unfenced};
use tsc_runtime::{CallsiteReport, snapshot};

/// A simulated counter. Each read costs the program this many ticks, and nothing else does.
struct Costly;

const COST: Ticks = 10_000;

thread_local! {
    // Ahead of the real counter, so that no simulated call starts before the real time at which the detector is armed.
    static NOW: Cell<Ticks> = Cell::new(Unfenced::start() + (1 << 50));
}

fn advance(ticks: Ticks) -> Ticks {
    NOW.set(NOW.get() + ticks);
    NOW.get()
}

impl FencePolicy for Costly {
    const FENCE: Fence = Fence::Lfence;

    fn start() -> Ticks {
        advance(COST)
    }

    fn stop() -> Ticks {
        advance(COST)
    }
}

/// A timed callee takes two reads more than one that is counted. The report has subtracted what it calibrated for the probe, which takes no
/// simulated ticks: much less than a read.
#[test]
fn excess_is_what_timing_costs_above_the_calibrated() {
    const CALLS: u64 = 4_000;
    const MOST_ROUNDS: u64 = 1_000;
    let is_known = || snapshot().clock().in_place_excess_ticks().is_some();
    assert!(!is_known());
    seed_sampling(1);
    simulate_time(0);
    let mut rounds = 0;
    while !is_known() && rounds < MOST_ROUNDS {
        // Callees are hardly ever timed because it is their turn, which would make the times of their callers differ more.
        let [caller, callee] = [("caller", 8), ("callee", 4096)].map(|(name, every)| {
            sampled_callsite::<Costly>(format!("{name} {rounds}"), Some(every))
        });
        for number in 0..CALLS {
            tests::call::<Costly>(caller, || {
                advance(100_000 + number % 7 * 100);
                (0..3).for_each(|_| tests::call::<Costly>(callee, || _ = advance(500)));
            });
        }
        rounds += 1;
    }
    let report = snapshot();
    let clock = report.clock();
    let excess = clock.in_place_excess_ticks().expect("callees were timed");
    let error = clock.in_place_excess_std_error_ticks();
    let error = error.expect("there is an estimate");
    let cost = 2.0 * COST as f64;
    let calibrated = cost - excess;
    assert!(
        (-3.0 * error..0.2 * cost).contains(&calibrated),
        "{excess} ± {error}"
    );
    assert!(error < 0.01 * cost, "{error}");
    let text = report.to_string();
    let line = "in this program, timing a call costs";
    assert!(text.contains(line), "{text}");
    let calls: u64 = report.callsites().iter().map(CallsiteReport::calls).sum();
    assert_eq!(calls, 4 * CALLS * rounds);

    // The probes' share of all ticks determines how much longer a call may take because of them: up to 65 ticks
    // and 6 %.
    let total = clock.overheads()[0].total_ticks();
    let timed = report.callsites().iter().filter_map(CallsiteReport::timed);
    let probes = timed.sum::<u64>() as f64 * total;
    let own: f64 = report
        .callsites()
        .iter()
        .map(|row| row.self_on_cpu_ticks().unwrap_or(row.self_ticks()))
        .sum();
    let expected = probes / (probes + own);
    for (share, of) in [
        (clock.crowding_error_ticks(), 65.0),
        (clock.crowding_error_share(), 0.06),
    ] {
        assert!(
            (share / of / expected - 1.0).abs() < 1e-3,
            "{share}, {expected}"
        );
    }
}
