//! The log-linear histogram: exact below 64, then 32 buckets for each octave, so that no bucket is wider than 1/32 of its values. The data
//! of a report has the same buckets; a test in [`live`](crate::live) compares the two.
//!
//! The octave of a value `v` is the binary logarithm of `2v + 1`, which is never zero. The bucket in the octave is given by the five bits
//! after the leading one of that number. The exponent and the mantissa of a float have the same form.

/// The number of buckets in an octave.
pub(crate) const SUBS: usize = 32;
const SUB_BITS: u32 = SUBS.trailing_zeros();
/// Values from here on share the last bucket: 30 hours at 2.6 GHz. The exact maximum is stored beside the histogram.
const CEILING: u64 = 1 << 48;
/// The number of octaves for values below the ceiling. Octave k contains `1 << (k - 1) .. 1 << k`, and octave 0 contains only 0.
pub(crate) const OCTAVES: usize = CEILING.ilog2() as usize + 1;
const LAST: u16 = (OCTAVES * SUBS) as u16 - 1;

/// The index of a bucket, over all octaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BucketIndex(u16);

/// [`BucketIndex::of_short`] accepts values below this, which a float represents exactly.
pub(crate) const SHORT: u64 = 1 << (f32::MANTISSA_DIGITS - 1);

impl BucketIndex {
    /// The bucket of `value`.
    #[inline(always)]
    pub(crate) const fn of(value: u64) -> Self {
        if value >= CEILING {
            return Self(LAST);
        }
        let odd = 2 * value + 1;
        let octave = odd.ilog2();
        let below_first_bit = odd << (u64::BITS - 1 - octave) << 1;
        let sub = below_first_bit >> (u64::BITS - SUB_BITS);
        Self((octave << SUB_BITS) as u16 + sub as u16)
    }

    /// The bucket of a value below [`SHORT`], by operations that processors can execute for four values at a time.
    #[inline(always)]
    pub(crate) const fn of_short(value: u32) -> Self {
        let odd = 2 * value + 1;
        let float_place = (odd.cast_signed() as f32).to_bits() >> Self::FLOAT_SHIFT;
        Self(float_place as u16 - FLOAT_BIAS)
    }

    /// The number of bits in a float below its exponent and the first five bits of its mantissa.
    pub(crate) const FLOAT_SHIFT: i32 = (f32::MANTISSA_DIGITS - 1 - SUB_BITS) as i32;

    /// The index before [`of_short`](Self::of_short) subtracts the constant part of the float.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) const fn float_place(self) -> u16 {
        self.0 + FLOAT_BIAS
    }

    /// The bucket that is `offset` buckets further.
    #[inline(always)]
    pub(crate) const fn plus(self, offset: u8) -> Self {
        Self(self.0 + offset as u16)
    }

    /// The bucket that is `offset` buckets before, or the first one.
    #[inline(always)]
    pub(crate) const fn before(self, offset: u16) -> Self {
        Self(self.0.saturating_sub(offset))
    }

    /// How many buckets further than `other` it is. A large number if it is before `other`.
    #[cfg(any(test, not(target_arch = "x86_64")))]
    #[inline(always)]
    pub(crate) const fn after(self, other: Self) -> u16 {
        self.0.wrapping_sub(other.0)
    }

    #[inline(always)]
    pub(crate) const fn octave(self) -> usize {
        self.0 as usize / SUBS
    }

    /// The index of the bucket in its octave.
    #[inline(always)]
    pub(crate) const fn sub(self) -> usize {
        self.0 as usize % SUBS
    }
}

/// The octave of `value`, and the bucket in that octave.
pub(crate) const fn bucket(value: u64) -> (usize, usize) {
    let place = BucketIndex::of(value);
    (place.octave(), place.sub())
}

/// The exponent bits of a float whose logarithm is 0, shifted to the place before the five bits of the mantissa.
const FLOAT_BIAS: u16 = (1f32.to_bits() >> BucketIndex::FLOAT_SHIFT) as u16;

/// The smallest value in a bucket.
pub(crate) const fn least(octave: usize, sub: usize) -> u64 {
    let scaled = (SUBS + sub) as u64;
    match (octave as u32).checked_sub(SUB_BITS + 1) {
        Some(shift) => scaled << shift,
        None => scaled >> (SUB_BITS + 1 - octave as u32),
    }
}

/// The counts of all threads. Octaves without counts take no memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    octaves: Vec<Option<Box<[u64; SUBS]>>>,
}

impl Histogram {
    /// Adds `count` values to a bucket.
    pub(crate) fn add(&mut self, octave: usize, sub: usize, count: u64) {
        if count != 0 {
            self.octave(octave)[sub] += count;
        }
    }

    /// The number of values in a bucket.
    pub(crate) fn count_in(&self, octave: usize, sub: usize) -> u64 {
        let counts = self.octaves.get(octave).and_then(Option::as_ref);
        counts.map_or(0, |counts| counts[sub])
    }

    /// Adds values to all buckets of an octave.
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

    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.buckets().map(|(_, _, count)| count).sum()
    }

    /// Subtracts the counts of `other`.
    pub(crate) fn remove(&mut self, other: &Self) {
        for (octave, sub, count) in other.buckets() {
            let left = &mut self.octave(octave)[sub];
            *left = left.saturating_sub(count);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_monotone() {
        let mut last = BucketIndex::of(0);
        for value in 1..1 << 20 {
            let this = BucketIndex::of(value);
            assert!(this >= last, "{value}: {last:?} then {this:?}");
            if this != last {
                assert_eq!(least(this.octave(), this.sub()), value);
            }
            last = this;
        }
    }

    #[test]
    fn short_values_have_the_same_places() {
        for value in 0..SHORT as u32 {
            assert_eq!(
                BucketIndex::of_short(value),
                BucketIndex::of(u64::from(value)),
                "{value}"
            );
        }
    }

    #[test]
    fn merged_counts_add_up() {
        let mut histogram = Histogram::default();
        (1..=50).for_each(|value| histogram.add_value(value));
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        let counts: Vec<u64> = twice.buckets().map(|(_, _, count)| count).collect();
        assert_eq!(counts, [2; 50]);
        twice.remove(&histogram);
        assert!(twice.buckets().eq(histogram.buckets()));
    }
}
