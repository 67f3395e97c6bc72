// After the part of a program that compresses a text.

/// Pseudo-random words and numbers: at least so many bytes.
fn words(len: usize) -> Vec<u8> {
    const WORDS: [&str; 16] = [
        "the", "probe", "of", "a", "counter", "fence", "and", "tick", "measures", "between", "two", "reads", "is", "call",
        "function", "record",
    ];
    let mut state = 7_u64;
    let mut text = Vec::new();
    while text.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = state >> 33;
        text.extend(WORDS[(random % 16) as usize].bytes());
        if random % 11 == 0 {
            text.extend(random.to_string().bytes());
        }
        text.push(b" \n"[usize::from(random % 13 == 0)]);
    }
    text
}
