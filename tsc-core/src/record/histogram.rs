//! The log-linear histogram: exact below 64, then 32 buckets for each octave, so that no bucket is wider than 1/32 of its values. The data
//! of a report has the same buckets, as a test checks.
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

    /// The bucket of an octave.
    #[inline(always)]
    pub(crate) const fn at(octave: usize, sub: usize) -> Self {
        Self((octave * SUBS + sub) as u16)
    }

    /// The bucket that is `offset` buckets further.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) const fn plus(self, offset: u8) -> Self {
        Self(self.0 + offset as u16)
    }

    /// The bucket that is `offset` buckets before, or the first one.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) const fn before(self, offset: u16) -> Self {
        Self(self.0.saturating_sub(offset))
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

    /// The smallest value in the bucket, by which the data of a report names it.
    pub(crate) const fn least(self) -> u64 {
        let (octave, sub) = (self.octave(), self.sub());
        let scaled = (SUBS + sub) as u64;
        match (octave as u32).checked_sub(SUB_BITS + 1) {
            Some(shift) => scaled << shift,
            None => scaled >> (SUB_BITS + 1 - octave as u32),
        }
    }
}

/// The exponent bits of a float whose logarithm is 0, shifted to the place before the five bits of the mantissa.
const FLOAT_BIAS: u16 = (1f32.to_bits() >> BucketIndex::FLOAT_SHIFT) as u16;

#[cfg(test)]
mod tests {
    use super::*;
    use tsc_report::Bucket;

    #[test]
    fn buckets_are_contiguous_and_monotone() {
        let mut last = BucketIndex::of(0);
        for value in 1..1 << 20 {
            let this = BucketIndex::of(value);
            assert!(this >= last, "{value}: {last:?} then {this:?}");
            if this != last {
                assert_eq!(this.least(), value);
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
    fn buckets_of_reports_are_the_records() {
        for bit in 0..64 {
            for value in [
                1 << bit,
                (1u64 << bit) + (1 << bit) / 3,
                (1 << bit) - 1,
                u64::MAX >> bit,
            ] {
                let place = BucketIndex::of(value);
                let bucket = Bucket::of(value);
                assert_eq!(place.least(), bucket.from_ticks, "{value}");
                let end = bucket.end_ticks();
                // The last bucket has everything that is longer.
                if end < 1 << 48 {
                    assert_eq!(BucketIndex::of(end - 1), place, "{value}");
                    assert_ne!(BucketIndex::of(end), place, "{value}");
                }
            }
        }
    }
}
