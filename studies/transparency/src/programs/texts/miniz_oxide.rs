//! miniz_oxide: a text is compressed and restored.

fn input() -> Vec<u8> {
    words(1_200_000)
}

#[inline(never)]
fn root(text: &Vec<u8>) -> u64 {
    let packed = miniz_oxide::deflate::compress_to_vec(text, 6);
    let restored = miniz_oxide::inflate::decompress_to_vec(&packed).unwrap();
    assert_eq!(&restored, text);
    packed.len() as u64
}
