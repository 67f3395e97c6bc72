//! zopfli: a text is compressed.

fn input() -> Vec<u8> {
    words(12_000)
}

#[inline(never)]
fn root(text: &Vec<u8>) -> u64 {
    let options = zopfli::Options {
        iteration_count: std::num::NonZeroU64::MIN,
        ..zopfli::Options::default()
    };
    let mut packed = Vec::new();
    zopfli::compress(options, zopfli::Format::Deflate, &text[..], &mut packed).unwrap();
    packed.len() as u64
}
