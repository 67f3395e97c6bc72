//! The log-linear histogram: exact below 64, then 32 buckets an octave, so none is wider than 1/32 of its value.

/// Buckets in an octave.
pub(crate) const SUBS: usize = 32;
const SUB_BITS: u32 = SUBS.trailing_zeros();
/// Values from here on share the last bucket: 30 hours at 2.6 GHz. The maximum is kept exactly beside the histogram.
const CEILING: u64 = 1 << 48;
/// Octaves that a value below the ceiling can fall in.
pub(crate) const OCTAVES: usize = (CEILING.ilog2() - SUB_BITS + 1) as usize;
const LAST: u64 = (OCTAVES * SUBS) as u64 - 1;

/// The octave of `value` and its bucket in there. Octave 0 holds 0..32, octave k ≥ 1 holds `32 << (k - 1) .. 32 << k`.
#[inline(always)]
pub(crate) const fn bucket(value: u64) -> (usize, usize) {
    let shift = (value | SUBS as u64).ilog2() - SUB_BITS;
    let index = ((shift as u64) << SUB_BITS) + (value >> shift);
    let index = if index < LAST { index } else { LAST } as usize;
    (index / SUBS, index % SUBS)
}

/// The least value in a bucket.
pub(crate) const fn least(octave: usize, sub: usize) -> u64 {
    match octave.checked_sub(1) {
        Some(shift) => ((SUBS + sub) as u64) << shift,
        None => sub as u64,
    }
}

/// The middle of a bucket's values.
#[allow(clippy::cast_precision_loss)] // half a bucket is far wider
pub(crate) fn middle(octave: usize, sub: usize) -> f64 {
    if octave == 0 {
        return sub as f64;
    }
    let width = (1u64 << (octave - 1)) as f64;
    (SUBS + sub) as f64 * width + (width - 1.0) / 2.0
}

/// The merged counts of all threads. Octaves that hold nothing take no memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    octaves: Vec<Option<Box<[u64; SUBS]>>>,
}

impl Histogram {
    /// Counts `count` values in one bucket.
    pub(crate) fn add(&mut self, octave: usize, sub: usize, count: u64) {
        if count != 0 {
            self.octave(octave)[sub] += count;
        }
    }

    /// Counts values in all buckets of an octave.
    pub(crate) fn add_octave(&mut self, octave: usize, count: impl Fn(usize) -> u64) {
        for (sub, sum) in self.octave(octave).iter_mut().enumerate() {
            *sum += count(sub);
        }
    }

    fn octave(&mut self, octave: usize) -> &mut [u64; SUBS] {
        if self.octaves.is_empty() {
            self.octaves.resize(OCTAVES, None);
        }
        self.octaves[octave].get_or_insert_with(|| Box::new([0; SUBS]))
    }

    pub(crate) fn add_value(&mut self, value: u64) {
        let (octave, sub) = bucket(value);
        self.add(octave, sub, 1);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (octave, counts) in other.octaves.iter().enumerate() {
            if let Some(counts) = counts {
                self.add_octave(octave, |sub| counts[sub]);
            }
        }
    }

    /// The non-empty buckets in ascending order: octave, bucket, count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        self.octaves.iter().enumerate().flat_map(|(octave, subs)| {
            subs.iter()
                .flat_map(|subs| subs.iter().enumerate())
                .filter(|&(_, &count)| count != 0)
                .map(move |(sub, &count)| (octave, sub, count))
        })
    }

    pub(crate) fn count(&self) -> u64 {
        self.buckets().map(|(_, _, count)| count).sum()
    }

    /// The value that `share` of all values do not exceed, to the middle of its bucket; `None` of nothing.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.count();
        let rank = ((count as f64 * share).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        self.buckets()
            .find(|&(_, _, count)| {
                seen += count;
                seen >= rank
            })
            .map(|(octave, sub, _)| middle(octave, sub))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_monotone() {
        let mut last = bucket(0);
        for value in 1..1 << 20 {
            let this = bucket(value);
            let next = if last.1 + 1 == SUBS {
                (last.0 + 1, 0)
            } else {
                (last.0, last.1 + 1)
            };
            assert!(
                this == last || this == next,
                "{value}: {last:?} then {this:?}"
            );
            last = this;
        }
    }

    #[test]
    fn no_bucket_is_wider_than_a_32nd() {
        for value in
            (0..47).flat_map(|bit| [1u64 << bit, (1 << bit) + (1 << bit) / 3, (2 << bit) - 1])
        {
            let (octave, sub) = bucket(value);
            let error = (middle(octave, sub) - value as f64).abs();
            assert!(error <= value as f64 / 64.0, "{value} is off by {error}");
            assert!(octave < OCTAVES);
        }
    }

    #[test]
    fn small_values_are_exact() {
        for value in 0..64 {
            let (octave, sub) = bucket(value);
            assert_eq!(middle(octave, sub), value as f64);
        }
    }

    #[test]
    fn quantiles_are_ranks() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=50).for_each(|value| histogram.add_value(value));
        assert_eq!(histogram.quantile(0.5), Some(25.0));
        assert_eq!(histogram.quantile(0.99), Some(50.0));
        assert_eq!(histogram.quantile(0.0), Some(1.0));
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        assert_eq!(twice.count(), 100);
        assert_eq!(twice.quantile(0.5), Some(25.0));
    }
}
