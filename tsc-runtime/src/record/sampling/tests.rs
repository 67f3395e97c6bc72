use super::*;
use crate::record::table::Entry;

const WEIGHT: u32 = 8;

/// A function that takes 1000 ticks and calls itself until `depth` is 1. One call in eight is timed. Returns the net ticks.
fn recurse(record: &Record, sampler: &Sampler, depth: u32) -> i64 {
    let is_timed = sampler.below(WEIGHT) == 0;
    let then = record.included();
    let own = 1_000;
    let net = own
        + if depth > 1 {
            recurse(record, sampler, depth - 1)
        } else {
            0
        };
    if is_timed {
        let ticks = Ticks {
            net,
            raw: net,
            own,
            is_own_known: true,
        };
        record.include(then, WEIGHT, ticks, false);
    }
    net
}

#[test]
fn variance_of_a_recursion_is_that_of_its_estimates() {
    const TREES: u32 = 1_000;
    const RUNS: usize = 200;
    let sampler = Sampler::new();
    sampler.seed(1);
    let run = |_| {
        let entry = Entry::new();
        // SAFETY: the entry is dropped after the record.
        let record = unsafe { Record::new(0, 0, &raw const entry) };
        (0..TREES).for_each(|_| _ = recurse(&record, &sampler, 3));
        let included = record.included();
        (included.net() as f64, included.variance)
    };
    let (sums, variances): (Vec<f64>, Vec<f64>) = (0..RUNS).map(run).unzip();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / RUNS as f64;
    let expected = f64::from(TREES) * 3_000.0;
    let squares: Vec<f64> = sums.iter().map(|sum| (sum - expected).powi(2)).collect();
    let ratio = mean(&variances) / mean(&squares);
    assert!((0.75..2.0).contains(&ratio), "{ratio}");
    let error = (mean(&squares) / RUNS as f64).sqrt();
    assert!((mean(&sums) - expected).abs() < 3.0 * error);
}

/// Each timed call around another multiplies the variance, so that in a deep recursion it would soon be infinite, which JSON cannot say.
#[test]
fn variance_of_a_deep_recursion_is_finite() {
    let entry = Entry::new();
    // SAFETY: the entry is dropped after the record.
    let record = unsafe { Record::new(0, 0, &raw const entry) };
    for _ in 0..2 {
        let then = record.included();
        for depth in 1..1_000 {
            let ticks = Ticks {
                net: depth,
                raw: depth,
                own: 1,
                is_own_known: true,
            };
            record.include(then, WEIGHT, ticks, false);
        }
        let variance = record.included().variance;
        assert!((1e30..1e40).contains(&variance), "{variance}");
    }
}

/// Whatever was estimated inside a call that stands for itself alone, its own time is known.
#[test]
fn call_that_stands_for_itself_has_no_variance() {
    let entry = Entry::new();
    // SAFETY: the entry is dropped after the record.
    let record = unsafe { Record::new(0, 0, &raw const entry) };
    let ticks = |net| Ticks {
        net,
        raw: net,
        own: net,
        is_own_known: true,
    };
    let then = record.included();
    record.include(record.included(), WEIGHT, ticks(500), false);
    assert_ne!(record.included().variance, 0.0);
    record.include(then, 1, ticks(3_000), false);
    let included = record.included();
    assert_eq!((included.net(), included.variance), (3_000, 0.0));
}
