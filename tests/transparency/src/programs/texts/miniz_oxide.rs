//! miniz_oxide: a text is compressed and restored.

fn input() -> Vec<u8> {
    const WORDS: [&str; 16] = [
        "the", "probe", "of", "a", "counter", "fence", "and", "tick", "measures", "between", "two", "reads", "is", "call",
        "function", "record",
    ];
    let mut state = 7_u64;
    let mut text = Vec::new();
    while text.len() < 1_200_000 {
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

#[inline(never)]
fn root(text: &Vec<u8>) -> u64 {
    let packed = miniz_oxide::deflate::compress_to_vec(text, 6);
    let restored = miniz_oxide::inflate::decompress_to_vec(&packed).unwrap();
    assert_eq!(&restored, text);
    packed.len() as u64
}
