//! Handles one sample after the other.

use super::{BUFFER_LEN, WINDOW};
use crate::record::histogram::BucketIndex;

pub(in crate::record) struct Batch<'a> {
    samples: &'a [u32; BUFFER_LEN],
    /// The distance of each sample's bucket from the first bucket of the window.
    offsets: [u16; BUFFER_LEN],
    pub(in crate::record) sum: u32,
    pub(in crate::record) squares: u64,
}

impl<'a> Batch<'a> {
    /// `window` is the first bucket of the window.
    pub(in crate::record) fn of(samples: &'a [u32; BUFFER_LEN], window: BucketIndex) -> Self {
        let mut batch = Self {
            samples,
            offsets: [0; BUFFER_LEN],
            sum: 0,
            squares: 0,
        };
        for (&sample, offset) in samples.iter().zip(&mut batch.offsets) {
            *offset = BucketIndex::of_short(sample).after(window);
            batch.sum += sample;
            batch.squares += u64::from(sample).pow(2);
        }
        batch
    }

    /// Whether a sample is smaller than `least` or larger than `greatest`.
    pub(in crate::record) fn reaches_beyond(&self, least: i32, greatest: i32) -> bool {
        let known = least..=greatest;
        self.samples
            .iter()
            .any(|sample| !known.contains(&sample.cast_signed()))
    }

    /// The samples outside the window, as bits.
    pub(in crate::record) fn outside(&self) -> u64 {
        self.offsets
            .iter()
            .rev()
            .fold(0, |bits, &offset| bits << 1 | u64::from(offset >= WINDOW))
    }

    /// The number of samples in the window's bucket `offset`.
    pub(in crate::record) fn count(&self, offset: u8) -> u32 {
        let offset = u16::from(offset);
        self.offsets
            .iter()
            .map(|&other| u32::from(other == offset))
            .sum()
    }
}
