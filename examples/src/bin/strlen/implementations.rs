//! Six ways to find the end of a text. Each gets the text with its NUL.

use std::ffi::CStr;

unsafe extern "C" {
    fn strlen(text: *const std::ffi::c_char) -> usize;
}

/// The C library's implementation, which chooses its code by the CPU.
pub(crate) fn libc(text: &[u8]) -> usize {
    assert_eq!(text.last(), Some(&0), "the text ends with a NUL");
    // SAFETY: there is a NUL within `text`, checked above.
    unsafe { strlen(text.as_ptr().cast()) }
}

/// A byte at a time.
pub(crate) fn naive(text: &[u8]) -> usize {
    let mut length = 0;
    while text[length] != 0 {
        length += 1;
    }
    length
}

/// The standard library's iterator.
pub(crate) fn position(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| *byte == 0)
        .unwrap_or(text.len())
}

/// The standard library's C string.
pub(crate) fn cstr(text: &[u8]) -> usize {
    CStr::from_bytes_until_nul(text).map_or(text.len(), |text| text.count_bytes())
}

/// Eight bytes at a time: a byte is zero if subtracting one sets its top bit, and the top bit was not set before.
pub(crate) fn words(text: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let chunks = text.chunks_exact(8);
    let tail = chunks.remainder();
    for (i, chunk) in chunks.enumerate() {
        let word = chunk
            .iter()
            .rev()
            .fold(0_u64, |word, byte| (word << 8) | u64::from(*byte));
        let zeros = word.wrapping_sub(ONES) & !word & TOPS;
        if zeros != 0 {
            return 8 * i + zeros.trailing_zeros() as usize / 8;
        }
    }
    text.len() - tail.len() + position(tail)
}

/// Sixteen bytes at a time.
#[cfg(target_arch = "x86_64")]
pub(crate) fn sse2(text: &[u8]) -> usize {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_setzero_si128,
    };

    let chunks = text.chunks_exact(16);
    let tail = chunks.remainder();
    for (i, chunk) in chunks.enumerate() {
        // SAFETY: the chunk has the 16 bytes that are loaded, and every x86-64 has SSE2.
        let zeros = unsafe {
            let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()))
        };
        if zeros != 0 {
            return 16 * i + zeros.trailing_zeros() as usize;
        }
    }
    text.len() - tail.len() + position(tail)
}
