//! Runs a test in as many orders of its threads' operations as there is time for.

use std::sync::{Mutex, PoisonError};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

/// Schedules that are tried in each of two ways: threads that are switched at random, and threads that are only switched at a few points.
const SCHEDULES: usize = 3000;
/// So many points.
const SWITCHES: usize = 3;
/// Points after which a schedule is one in which some thread waits for ever.
const ENOUGH: usize = 100_000;

/// Runs `once` a single time, as long as it takes, and then `scenario` in many orders.
pub(crate) fn check(once: fn(), scenario: fn()) {
    // The tests share the runtime's statics.
    static ONE_BY_ONE: Mutex<()> = Mutex::new(());
    let _alone = ONE_BY_ONE.lock().unwrap_or_else(PoisonError::into_inner);
    run(RandomScheduler::new(1), MaxSteps::None, once);
    let steps = MaxSteps::FailAfter(ENOUGH);
    run(RandomScheduler::new(SCHEDULES), steps, scenario);
    run(PctScheduler::new(SWITCHES, SCHEDULES), steps, scenario);
}

fn run(scheduler: impl Scheduler + 'static, steps: MaxSteps, scenario: fn()) {
    let mut config = Config::new();
    // The runtime formats, and the C library looks for libraries.
    config.stack_size = 1 << 18;
    config.max_steps = steps;
    // It says that it does not know of relaxed orderings. Loom and Miri do.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(scenario);
}
