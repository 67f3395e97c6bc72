//! libflate: a text is compressed and restored.

fn input() -> Vec<u8> {
    words(300_000)
}

#[inline(never)]
fn root(text: &Vec<u8>) -> u64 {
    use std::io::{Read, Write};
    let mut encoder = libflate::deflate::Encoder::new(Vec::new());
    encoder.write_all(text).unwrap();
    let packed = encoder.finish().into_result().unwrap();
    let mut restored = Vec::new();
    libflate::deflate::Decoder::new(&packed[..]).read_to_end(&mut restored).unwrap();
    assert_eq!(&restored, text);
    packed.len() as u64
}
