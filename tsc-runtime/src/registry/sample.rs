//! `TSC_SAMPLE` and `TSC_SAMPLE_SEED`: which callsites are sampled, and with what random numbers.

use crate::environment;
use crate::record::sampling::{MOST, Mode};
use crate::record::thread;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::tsc::clock;

/// The mode of a callsite with this `sample = N`, or with none.
pub(super) fn mode(own: Option<u32>) -> Mode {
    own.map_or_else(by_environment, one_in)
}

fn one_in(every: u32) -> Mode {
    match every.min(MOST) {
        0 | 1 => Mode::EveryCall,
        every => Mode::OneIn(every),
    }
}

/// A value in the place of N, in [`BY_ENVIRONMENT`].
pub(super) const AUTO: u32 = MOST + 1;
const UNREAD: u32 = u32::MAX;

/// Not a lock, which the child of a fork might find taken. Two threads may both read the variable.
static BY_ENVIRONMENT: AtomicU32 = AtomicU32::new(UNREAD);

fn by_environment() -> Mode {
    let mut known = BY_ENVIRONMENT.load(Relaxed);
    if known == UNREAD {
        known = in_environment().unwrap_or(1);
        BY_ENVIRONMENT.store(known, Relaxed);
    }
    match known {
        AUTO => Mode::Auto,
        every => one_in(every),
    }
}

/// What `TSC_SAMPLE` says.
pub(super) fn in_environment() -> Option<u32> {
    environment::SAMPLE.parse(parse)
}

fn parse(value: &str) -> Option<u32> {
    if value == "auto" {
        return Some(AUTO);
    }
    value
        .parse()
        .ok()
        .filter(|every| (1..=MOST).contains(every))
}

/// The seed of the next thread's random numbers.
pub(super) fn seed() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    let thread = THREADS.fetch_add(1, Relaxed);
    seed_in_environment()
        .unwrap_or_else(clock::now)
        .wrapping_add(thread)
}

/// What `TSC_SAMPLE_SEED` says.
pub(super) fn seed_in_environment() -> Option<u64> {
    environment::SAMPLE_SEED.parse(|value| value.parse().ok())
}

/// Gives this thread the random numbers of `seed`, for tests.
pub fn seed_sampling(seed: u64) {
    thread::this().sampler.seed(seed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_or_refused() {
        assert_eq!(parse("1"), Some(1));
        assert_eq!(parse("4096"), Some(MOST));
        assert_eq!(parse("auto"), Some(AUTO));
        for value in ["0", "4097", "-1", "Auto", "64 ", "one"] {
            assert_eq!(parse(value), None, "{value}");
        }
    }

    #[test]
    fn argument_goes_before_the_environment() {
        assert_eq!(mode(Some(1)), Mode::EveryCall);
        assert_eq!(mode(Some(8)), Mode::OneIn(8));
        assert_eq!(mode(Some(u32::MAX)), Mode::OneIn(MOST));
    }
}
