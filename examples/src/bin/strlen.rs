//! `strlen` until it is constant; then five implementations of it side by side.
//!
//! `cargo run --release -p examples --bin strlen`

use std::ffi::CStr;

use tsc_runtime::compare::Compare;
use tsc_runtime::measure::Measure;
use tsc_runtime::{gclk, tsc};

unsafe extern "C" {
    fn strlen(text: *const std::ffi::c_char) -> usize;
}

/// The C library's, which chooses its code by the CPU.
fn libc(text: &[u8]) -> usize {
    // SAFETY: every text here ends with a NUL; `main` makes them so.
    unsafe { strlen(text.as_ptr().cast()) }
}

/// A byte at a time.
fn naive(text: &[u8]) -> usize {
    let mut length = 0;
    while text[length] != 0 {
        length += 1;
    }
    length
}

/// The standard library's iterator.
fn position(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| *byte == 0)
        .unwrap_or(text.len())
}

/// The standard library's C string.
fn cstr(text: &[u8]) -> usize {
    CStr::from_bytes_until_nul(text).map_or(text.len(), |text| text.count_bytes())
}

/// Eight bytes at a time: a byte is zero if taking one away borrows into its top bit.
fn words(text: &[u8]) -> usize {
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
fn sse2(text: &[u8]) -> usize {
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tsc::detect()?;
    let text =
        |length: usize| -> Vec<u8> { std::iter::repeat_n(b'x', length).chain([0]).collect() };
    let thousand = text(1000);

    println!("GCLK, a call at a time:\n");
    for _ in 0..4 {
        gclk!(libc(&thousand));
    }

    println!("\nmeasured to a constant, as the old article did, whose run began and ended so:\n");
    println!("strlen: 1489 ticks <== cache warm-up\nstrlen: 1019 ticks <== constant\n");
    for (name, strlen) in [("strlen", libc as fn(&[u8]) -> usize), ("naive", naive)] {
        print!(
            "{}",
            Measure::new(name).bytes(1000).run(|| strlen(&thousand))
        );
    }

    println!("\nside by side, over 1 … 4000 bytes:\n");
    let texts: Vec<Vec<u8>> = [1, 7, 16, 60, 250, 1000, 4000].map(text).to_vec();
    let comparison = Compare::new("strlen", &texts)
        .add("libc", |text| libc(text))
        .add("a byte at a time", |text| naive(text))
        .add("iter().position", |text| position(text))
        .add("CStr", |text| cstr(text))
        .add("eight bytes at a time", |text| words(text));
    #[cfg(target_arch = "x86_64")]
    let comparison = comparison.add("SSE2", |text| sse2(text));
    println!("{}", comparison.check().run()?);
    Ok(())
}
