//! lzma-rs: a compressed text is restored and compressed again.

fn input() -> Vec<u8> {
    let mut packed = Vec::new();
    lzma_rs::lzma_compress(&mut &words(60_000)[..], &mut packed).unwrap();
    packed
}

#[inline(never)]
fn root(packed: &Vec<u8>) -> u64 {
    let mut text = Vec::new();
    lzma_rs::lzma_decompress(&mut &packed[..], &mut text).unwrap();
    let mut packed = Vec::new();
    lzma_rs::lzma_compress(&mut &text[..], &mut packed).unwrap();
    packed.len() as u64
}
