//! What a full buffer of samples adds to the statistics.
//!
//! If one counter is incremented for one sample after the other, each increment waits for the previous one. Most of a function's samples
//! are in a few neighbouring buckets, the window. So each bucket of the window is compared with all samples at once, and only the other
//! samples are counted one by one. Four samples are handled at a time, with instructions that every x86-64 has. This takes half of the
//! instructions that counting them one by one takes; `tests/instructions` prints how many.

#![cfg(target_arch = "x86_64")]

use core::arch::x86_64::*;

use super::{BUFFER_LEN, BUFFERED_BELOW, Record};
use crate::record::histogram::BucketIndex;

type Samples = [u32; BUFFER_LEN];

// Sets of samples are represented by the bits of a `u64`.
const _: () = assert!(BUFFER_LEN == u64::BITS as usize);

/// The number of neighbouring buckets in the window.
const WINDOW: u8 = 16;
/// The number of samples in a vector.
const LANES: usize = 4;
const VECTORS: usize = BUFFER_LEN / LANES;

impl Record {
    /// To be called within a write.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn add_batch(&self, samples: &Samples) {
        let window = self.window.get();
        let (sum, squares, offsets) = sums_and_offsets(samples, window);
        self.add_sums(BUFFER_LEN as u64, i64::from(sum), u128::from(squares));
        // Usually there is no new extreme, and checking that is faster than finding the extremes.
        let known = |extreme: i64| extreme.clamp(-1, BUFFERED_BELOW as i64) as i32;
        let (min, max) = (self.counters.min.get(), self.counters.max.get());
        if reaches_beyond(samples, known(min), known(max)) {
            for &sample in samples {
                self.add_extremes(i64::from(sample));
            }
        }
        self.buckets.expect(BUFFER_LEN as u32);
        let mut outside = outside(&offsets);
        let mut inside = outside.count_zeros();
        if inside < BUFFER_LEN as u32 / 2 {
            // Any sample is a guess at where most of them lie. A wrong guess is soon replaced.
            let first = BucketIndex::of_short(samples[0]);
            self.window.set(first.before(u16::from(WINDOW / 4)));
        }
        for offset in 0..WINDOW {
            if inside == 0 {
                break;
            }
            let count = count(&offsets, offset);
            if count != 0 {
                self.buckets.count(window.plus(offset), count);
                inside -= count;
            }
        }
        while outside != 0 {
            let sample = samples[outside.trailing_zeros() as usize];
            self.buckets.count(BucketIndex::of_short(sample), 1);
            outside &= outside - 1;
        }
    }
}

/// The distance of each sample's bucket from the first bucket of the window, as a saturated byte.
type Offsets = [__m128i; VECTORS / 4];

#[inline]
#[target_feature(enable = "sse2")]
fn sums_and_offsets(samples: &Samples, window: BucketIndex) -> (u32, u64, Offsets) {
    let mut sums = _mm_setzero_si128();
    let mut squares = _mm_setzero_si128();
    let mut places = [_mm_setzero_si128(); VECTORS];
    for (index, place) in places.iter_mut().enumerate() {
        let lanes = load(samples, index);
        let odd_lanes = _mm_srli_epi64::<32>(lanes);
        sums = _mm_add_epi32(sums, lanes);
        squares = _mm_add_epi64(squares, _mm_mul_epu32(lanes, lanes));
        squares = _mm_add_epi64(squares, _mm_mul_epu32(odd_lanes, odd_lanes));
        *place = float_places(lanes);
    }
    let window = _mm_set1_epi16(window.float_place().cast_signed());
    let mut offsets = [_mm_setzero_si128(); VECTORS / 4];
    for (offsets, places) in offsets.iter_mut().zip(places.as_chunks::<4>().0) {
        let low = _mm_sub_epi16(_mm_packs_epi32(places[0], places[1]), window);
        let high = _mm_sub_epi16(_mm_packs_epi32(places[2], places[3]), window);
        *offsets = _mm_packs_epi16(low, high);
    }
    let squares = _mm_add_epi64(squares, _mm_unpackhi_epi64(squares, squares));
    let squares = _mm_cvtsi128_si64(squares).cast_unsigned();
    (sum_of_lanes(sums), squares, offsets)
}

/// Computes [`BucketIndex::float_place`] of four samples.
#[inline]
#[target_feature(enable = "sse2")]
fn float_places(lanes: __m128i) -> __m128i {
    let odd = _mm_or_si128(_mm_add_epi32(lanes, lanes), _mm_set1_epi32(1));
    _mm_srli_epi32::<{ BucketIndex::FLOAT_SHIFT }>(_mm_castps_si128(_mm_cvtepi32_ps(odd)))
}

/// Whether a sample is smaller than `least` or larger than `greatest`.
#[inline]
#[target_feature(enable = "sse2")]
fn reaches_beyond(samples: &Samples, least: i32, greatest: i32) -> bool {
    let (least, greatest) = (_mm_set1_epi32(least), _mm_set1_epi32(greatest));
    let mut signs = _mm_setzero_si128();
    for index in 0..VECTORS {
        let lanes = load(samples, index);
        signs = _mm_or_si128(signs, _mm_sub_epi32(lanes, least));
        signs = _mm_or_si128(signs, _mm_sub_epi32(greatest, lanes));
    }
    _mm_movemask_ps(_mm_castsi128_ps(signs)) != 0
}

/// The samples outside the window, as bits.
#[inline]
#[target_feature(enable = "sse2")]
fn outside(offsets: &Offsets) -> u64 {
    let last = _mm_set1_epi8(WINDOW as i8 - 1);
    offsets.iter().rev().fold(0, |bits, &offsets| {
        // Samples before the window have negative bytes.
        let outside = _mm_or_si128(_mm_cmplt_epi8(last, offsets), offsets);
        bits << 16 | u64::from(_mm_movemask_epi8(outside) as u16)
    })
}

/// The number of samples in the window's bucket `offset`.
#[inline]
#[target_feature(enable = "sse2")]
fn count(offsets: &Offsets, offset: u8) -> u32 {
    let offset = _mm_set1_epi8(offset.cast_signed());
    // A comparison sets the bytes that are equal to −1.
    let counts = offsets
        .iter()
        .fold(_mm_setzero_si128(), |counts, &offsets| {
            _mm_sub_epi8(counts, _mm_cmpeq_epi8(offsets, offset))
        });
    sum_of_lanes(_mm_sad_epu8(counts, _mm_setzero_si128()))
}

#[inline]
#[target_feature(enable = "sse2")]
fn load(samples: &Samples, index: usize) -> __m128i {
    let lanes = &samples[LANES * index..LANES * (index + 1)];
    // SAFETY: the slice has four elements, and the load needs no alignment.
    unsafe { _mm_loadu_si128(lanes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn sum_of_lanes(lanes: __m128i) -> u32 {
    let halves = _mm_add_epi32(lanes, _mm_unpackhi_epi64(lanes, lanes));
    _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_shuffle_epi32::<1>(halves))).cast_unsigned()
}
