//! Handles four samples at a time, with instructions that every x86-64 has.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_castps_si128, _mm_castsi128_ps, _mm_cmpeq_epi8,
    _mm_cmplt_epi8, _mm_cvtepi32_ps, _mm_cvtsi128_si32, _mm_cvtsi128_si64, _mm_loadu_si128,
    _mm_movemask_epi8, _mm_movemask_ps, _mm_mul_epu32, _mm_or_si128, _mm_packs_epi16,
    _mm_packs_epi32, _mm_sad_epu8, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32,
    _mm_setzero_si128, _mm_shuffle_epi32, _mm_srli_epi32, _mm_srli_epi64, _mm_sub_epi8,
    _mm_sub_epi16, _mm_sub_epi32, _mm_unpackhi_epi64,
};

use super::{BUFFER_LEN, WINDOW};
use crate::record::histogram::BucketIndex;

/// The number of samples in a vector.
const LANES: usize = 4;
const VECTORS: usize = BUFFER_LEN / LANES;

pub(in crate::record) struct Batch<'a> {
    samples: &'a [u32; BUFFER_LEN],
    /// The distance of each sample's bucket from the first bucket of the window, as a saturated byte.
    offsets: [__m128i; VECTORS / 4],
    pub(in crate::record) sum: u32,
    pub(in crate::record) squares: u64,
}

impl<'a> Batch<'a> {
    /// `window` is the first bucket of the window.
    #[inline(always)]
    pub(in crate::record) fn of(samples: &'a [u32; BUFFER_LEN], window: BucketIndex) -> Self {
        // SAFETY: every x86-64 has SSE2.
        unsafe { batch(samples, window) }
    }

    /// Whether a sample is smaller than `least` or larger than `greatest`.
    #[inline(always)]
    pub(in crate::record) fn reaches_beyond(&self, least: i32, greatest: i32) -> bool {
        // SAFETY: every x86-64 has SSE2.
        unsafe { reaches_beyond(self.samples, least, greatest) }
    }

    /// The samples outside the window, as bits.
    #[inline(always)]
    pub(in crate::record) fn outside(&self) -> u64 {
        // SAFETY: every x86-64 has SSE2.
        unsafe { outside(&self.offsets) }
    }

    /// The number of samples in the window's bucket `offset`.
    #[inline(always)]
    pub(in crate::record) fn count(&self, offset: u8) -> u32 {
        // SAFETY: every x86-64 has SSE2.
        unsafe { count(&self.offsets, offset) }
    }
}

type Offsets = [__m128i; VECTORS / 4];

#[inline]
#[target_feature(enable = "sse2")]
fn batch(samples: &[u32; BUFFER_LEN], window: BucketIndex) -> Batch<'_> {
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
    Batch {
        samples,
        offsets,
        sum: sum_of_lanes(sums),
        squares: _mm_cvtsi128_si64(_mm_add_epi64(squares, _mm_unpackhi_epi64(squares, squares)))
            .cast_unsigned(),
    }
}

/// Computes [`BucketIndex::float_place`] of four samples.
#[inline]
#[target_feature(enable = "sse2")]
fn float_places(lanes: __m128i) -> __m128i {
    let odd = _mm_or_si128(_mm_add_epi32(lanes, lanes), _mm_set1_epi32(1));
    _mm_srli_epi32::<{ BucketIndex::FLOAT_SHIFT }>(_mm_castps_si128(_mm_cvtepi32_ps(odd)))
}

#[inline]
#[target_feature(enable = "sse2")]
fn reaches_beyond(samples: &[u32; BUFFER_LEN], least: i32, greatest: i32) -> bool {
    let (least, greatest) = (_mm_set1_epi32(least), _mm_set1_epi32(greatest));
    let mut signs = _mm_setzero_si128();
    for index in 0..VECTORS {
        let lanes = load(samples, index);
        signs = _mm_or_si128(signs, _mm_sub_epi32(lanes, least));
        signs = _mm_or_si128(signs, _mm_sub_epi32(greatest, lanes));
    }
    _mm_movemask_ps(_mm_castsi128_ps(signs)) != 0
}

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
fn load(samples: &[u32; BUFFER_LEN], index: usize) -> __m128i {
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
