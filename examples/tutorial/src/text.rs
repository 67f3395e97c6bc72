//! A text to count the words of. It is the same in every run.

const SYLLABLES: [&str; 16] = [
    "ba", "Ce", "di", "fo", "gu", "ha", "ke", "Li", "mo", "nu", "pa", "re", "Si", "to", "vu", "we",
];

/// Writes a text of so many words.
pub fn write(words: u32) -> String {
    let mut text = String::new();
    let mut state = 1;
    for _ in 0..words {
        for _ in 0..3 {
            text.push_str(syllable(&mut state));
        }
        text.push(' ');
    }
    text
}

/// One of the syllables; the first ones are more frequent.
fn syllable(state: &mut u64) -> &'static str {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let (one, other) = (*state >> 33 & 15, *state >> 45 & 15);
    SYLLABLES[one.min(other) as usize]
}
