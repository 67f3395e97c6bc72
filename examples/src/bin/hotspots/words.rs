//! Splits bytes into words.

use tsc_runtime::cycles;

/// The positions of the words in `text`: runs of letters, digits and underscores that begin with a letter.
#[cycles(bytes = text.len())]
pub(crate) fn split(text: &[u8]) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut position = 0;
    while let Some(start) = text[position..].iter().position(u8::is_ascii_alphabetic) {
        let start = position + start;
        let rest = &text[start..];
        let length = rest
            .iter()
            .position(|byte| !is_inside(*byte))
            .unwrap_or(rest.len());
        words.push((start, start + length));
        position = start + length;
    }
    words
}

fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Writes `word` in lower case to `normal`.
pub(crate) fn normalise(word: &[u8], normal: &mut Vec<u8>) {
    normal.clear();
    normal.extend(word.iter().map(u8::to_ascii_lowercase));
}

/// FNV-1a.
pub(crate) fn hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
