//! weezl: a text is compressed and restored.

fn input() -> Vec<u8> {
    words(1_000_000)
}

#[inline(never)]
fn root(text: &Vec<u8>) -> u64 {
    let packed = weezl::encode::Encoder::new(weezl::BitOrder::Msb, 8).encode(text).unwrap();
    let restored = weezl::decode::Decoder::new(weezl::BitOrder::Msb, 8).decode(&packed).unwrap();
    assert_eq!(&restored, text);
    packed.len() as u64
}
