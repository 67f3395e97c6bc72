//! Computes the figures of a record's buffered samples: their sum, extremes and buckets.
//!
//! If one counter is incremented for one sample after the other, each increment waits for the previous one. Most of a function's samples
//! are in a few neighbouring buckets, the window. So each bucket of the window is compared with all samples at once, and only the other
//! samples are counted one by one.

use super::BUFFER_LEN;

#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(target_arch = "x86_64")]
pub(super) use sse2::Batch;

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use portable::Batch;

/// The number of neighbouring buckets in the window.
pub(super) const WINDOW: u16 = 16;

// Sets of samples are represented by the bits of a `u64`.
const _: () = assert!(BUFFER_LEN == u64::BITS as usize);

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::record::histogram::{BucketIndex, SHORT};

    /// Numbers of all lengths up to `bits`.
    fn numbers(seed: u64, bits: u32) -> impl Iterator<Item = u32> {
        let mut state = seed;
        core::iter::from_fn(move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(seed | 1);
            let length = (state >> 33) as u32 % (bits + 1);
            Some((state >> 40) as u32 & ((1 << length) - 1))
        })
    }

    #[test]
    fn four_at_a_time_is_as_one_by_one() {
        for seed in 0..if cfg!(miri) { 5 } else { 500 } {
            let bits = seed as u32 % (SHORT.ilog2() + 1);
            let mut numbers = numbers(seed, bits);
            let mut next = || numbers.next().unwrap();
            let window = BucketIndex::of_short(next());
            let (least, greatest) = (next() as i32, next() as i32 + 1000);
            let samples: [u32; BUFFER_LEN] = core::array::from_fn(|_| next());
            let fast = sse2::Batch::of(&samples, window);
            let slow = portable::Batch::of(&samples, window);
            assert_eq!((fast.sum, fast.squares), (slow.sum, slow.squares));
            assert_eq!(fast.outside(), slow.outside());
            assert_eq!(
                fast.reaches_beyond(least, greatest),
                slow.reaches_beyond(least, greatest)
            );
            for offset in 0..WINDOW as u8 {
                assert_eq!(fast.count(offset), slow.count(offset));
            }
        }
    }
}
