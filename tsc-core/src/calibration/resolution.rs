//! The step in which the counter advances, which is not always one tick.
//!
//! AMD's counter follows a 100 MHz reference clock: on an EPYC of 2.6 GHz it advances by 26 ticks at a time, and on one of 2.45 GHz by
//! 24 and 25 in turn. A 24 MHz timer that is scaled to 1 GHz advances by 41 or 42 ticks. Every reading is uncertain by one step. The smallest
//! non-zero difference between readings is not the step, because the counter sometimes takes a step in two parts (of the EPYC's readings in a
//! row, about 5 in 100 differ by 1 tick, and as many by 25); the most frequent difference is.

use once_cell::race::OnceBox;
use std::hint::black_box;

use crate::tsc::{Lfence, Ticks, clock, elapsed};
use tsc_report::__private::sorted;

/// The number of unfenced reads in a row, and of fenced pairs around work of different lengths.
const READS: usize = if cfg!(miri) { 20 } else { 2000 };
const PAIRS: usize = READS;
/// The number of different lengths of the work, in about core cycles: the durations of the pairs are several multiples of the step, even of
/// one of 30 core cycles.
const LENGTHS: usize = 199;

/// A step that is not a whole number of ticks must be seen in so many multiples.
const LEAST_MULTIPLES: usize = 4;

/// The step of the counter in ticks, at least 1. The first caller measures it, which takes about 0.3 ms.
///
/// A step that is not a whole number of ticks is rounded up.
///
/// If the operating system's clock is used in place of the counter, this is that clock's step in nanoseconds.
///
/// ```
/// # #[cfg(feature = "on")] // it is private otherwise
/// # {
/// let step = tsc_runtime::resolution();
/// println!("the counter advances by {step} ticks at a time");
/// assert!(step >= 1);
/// # }
/// ```
#[must_use]
pub fn ticks() -> Ticks {
    static STEP: OnceBox<Ticks> = OnceBox::new();
    *STEP.get_or_init(|| Box::new(measure()))
}

fn measure() -> Ticks {
    let reads: Vec<Ticks> = (0..READS).map(|_| clock::now()).collect();
    let gaps = reads.windows(2).map(|pair| elapsed(pair[0], pair[1]));
    let spans = (0..PAIRS).map(|i| {
        let start = clock::at_start::<Lfence>();
        for k in 0..i % LENGTHS {
            black_box(k);
        }
        elapsed(start, clock::at_stop::<Lfence>())
    });
    step(&gaps.collect::<Vec<_>>(), &spans.collect::<Vec<_>>())
}

/// The step, computed from the differences between unfenced reads in a row, and from fenced durations of different work.
fn step(gaps: &[i64], spans: &[i64]) -> Ticks {
    // If reads follow each other faster than the counter advances, many differences are 0 and most others are one step.
    let zeros = gaps.iter().filter(|&&gap| gap == 0).count();
    if zeros * 4 >= gaps.len()
        && let Some(&(gap, _)) = by_frequency(gaps).first()
    {
        return gap;
    }
    // Otherwise every difference is several steps. The step is the greatest common divisor of the frequent differences. The rare ones are
    // left out, because a step in two parts would make the divisor wrong.
    let common = by_frequency(spans);
    let total: usize = common.iter().map(|&(_, count)| count).sum();
    let mut covered = 0;
    let mut frequent = Vec::new();
    for (values, &(span, count)) in common.iter().enumerate() {
        if values >= 2 && covered * 10 >= total * 9 {
            break;
        }
        covered += count;
        frequent.push(span);
    }
    match frequent.iter().copied().fold(0, greatest_common_divisor) {
        0 | 1 => fractional_step(&frequent).unwrap_or(1),
        divisor => divisor,
    }
}

/// The step, rounded up, if it is not a whole number of ticks: each multiple of it is one value, or two that differ by 1.
fn fractional_step(spans: &[Ticks]) -> Option<Ticks> {
    let spans = sorted(spans, &Ticks::cmp);
    let multiples: Vec<&[Ticks]> = spans.chunk_by(|a, b| b - a <= 1).collect();
    if multiples.len() < LEAST_MULTIPLES || multiples.iter().any(|values| values.len() > 2) {
        return None;
    }
    let middle = |values: &[Ticks]| values.iter().sum::<Ticks>() as f64 / values.len() as f64;
    let middles: Vec<f64> = multiples.into_iter().map(middle).collect();
    let apart = middles.windows(2).map(|pair| pair[1] - pair[0]);
    let about = apart.fold(f64::INFINITY, f64::min);
    let whole = middles[middles.len() - 1] - middles[0];
    let step = whole / (whole / about).round();
    let is_multiple = |middle: &f64| (middle - (middle / step).round() * step).abs() <= 1.0;
    let are_multiples = middles.iter().all(is_multiple);
    are_multiples.then(|| step.ceil() as Ticks)
}

/// The positive values and how often each occurs, the most frequent first.
fn by_frequency(values: &[i64]) -> Vec<(Ticks, usize)> {
    let positive = values.iter().filter(|&&value| value > 0);
    let positive: Vec<Ticks> = positive.map(|value| value.cast_unsigned()).collect();
    let positive = sorted(&positive, &Ticks::cmp);
    let equal = positive.chunk_by(|a, b| a == b);
    let counted: Vec<_> = equal.map(|equal| (equal[0], equal.len())).collect();
    sorted(&counted, &|one, other| other.1.cmp(&one.1))
}

fn greatest_common_divisor(a: Ticks, b: Ticks) -> Ticks {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured on a Zen 4 guest: steps of 26, some of them split into 25 and 1.
    fn zen4_gaps() -> Vec<i64> {
        [(26, 804), (52, 47), (1, 57), (25, 33), (77, 30), (78, 29)]
            .iter()
            .flat_map(|&(gap, count)| vec![gap; count])
            .collect()
    }

    #[test]
    fn step_of_26_is_found_through_split_steps_and_interrupts() {
        let mut spans: Vec<i64> = (0..2000).map(|i| 26 * (2 + i % 5)).collect();
        spans.extend([1, 25, 27, 2_596_131, 40_003, -7, 0]);
        assert_eq!(step(&zen4_gaps(), &spans), 26);
    }

    #[test]
    fn step_of_24_and_a_half_is_found() {
        // Measured on a Zen 3 guest: readings follow a clock of 100 MHz, and a step is 24 or 25 ticks.
        let gaps = [(24, 860), (25, 860), (49, 275), (7840, 1)]
            .iter()
            .flat_map(|&(gap, count)| vec![gap; count])
            .collect::<Vec<_>>();
        let mut spans: Vec<i64> = (0..2000)
            .map(|i| (49 * (3 + i / 2 % 9) + i % 2) / 2)
            .collect();
        spans.extend([1, 25, 27, 2_596_131, 40_003, -7, 0]);
        assert_eq!(step(&gaps, &spans), 25);
    }

    #[test]
    fn even_counter_has_a_step_of_two_and_a_plain_one_of_one() {
        let gaps = [18, 20, 18, 22, 18];
        let even: Vec<i64> = (0..500).map(|i| 30 + 2 * (i % 9)).collect();
        assert_eq!(step(&gaps, &even), 2);
        let plain: Vec<i64> = (0..500).map(|i| 30 + i % 9).collect();
        assert_eq!(step(&gaps, &plain), 1);
    }

    #[test]
    fn slow_timer_shows_its_step_between_zeros() {
        // A timer of 24 MHz, scaled to 1 GHz: steps of 41 or 42.
        let gaps: Vec<i64> = (0..900)
            .map(|i| [0, 0, 42, 0, 0, 41, 0, 42, 0][i % 9])
            .collect();
        assert_eq!(step(&gaps, &[41, 42, 83, 84, 125, 0]), 42);
        // One that is read more slowly than it advances, and whose steps are of 16 or 17 ticks.
        let gaps: Vec<i64> = (0..900).map(|i| [17, 0, 17, 16, 0, 17][i % 6]).collect();
        assert_eq!(step(&gaps, &[17, 33, 34, 50, 51]), 17);
        // A timer of 25 MHz, not scaled.
        let gaps: Vec<i64> = (0..900).map(|i| i64::from(i % 4 == 0)).collect();
        assert_eq!(step(&gaps, &[1, 2, 1, 3]), 1);
    }

    #[test]
    fn plain_counter_between_uneven_durations_has_a_step_of_one() {
        let spans: Vec<i64> = (0..900)
            .map(|i| [30, 31, 40, 52, 53, 71, 80][i % 7])
            .collect();
        assert_eq!(step(&[18, 20, 19], &spans), 1);
    }

    #[test]
    fn nothing_read_is_a_step_of_one() {
        assert_eq!(step(&[], &[]), 1);
        assert_eq!(step(&[0, 0, 0], &[0, -5, 0]), 1);
        assert_eq!(step(&[7], &[i64::MAX, i64::MIN, -1]), i64::MAX as Ticks);
    }

    #[test]
    fn measured_step_divides_what_is_read() {
        let step = ticks();
        assert!((1..10_000).contains(&step), "{step}");
        assert_eq!(step, ticks());
    }
}
