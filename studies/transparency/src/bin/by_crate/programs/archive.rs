//! Packs and unpacks a file in several ways.
// base64 = "*"
// crc32fast = "*"
// lz4_flex = "*"
// miniz_oxide = "*"
// sha2 = "*"
// weezl = "*"

use base64::Engine as _;
use sha2::Digest as _;

fn main() {
    let text = words(20 << 20);
    let mut sums = Vec::new();
    for part in text.chunks(1 << 18) {
        let packed = miniz_oxide::deflate::compress_to_vec(part, 6);
        let unpacked = miniz_oxide::inflate::decompress_to_vec(&packed).unwrap();
        let fast = lz4_flex::compress_prepend_size(&unpacked);
        let unpacked = lz4_flex::decompress_size_prepended(&fast).unwrap();
        let mut encoder = weezl::encode::Encoder::new(weezl::BitOrder::Msb, 8);
        let table = encoder.encode(&unpacked).unwrap();
        let letters = base64::prelude::BASE64_STANDARD.encode(&table);
        let sum = sha2::Sha256::digest(letters.as_bytes());
        sums.push(u64::from(sum[0]) + u64::from(crc32fast::hash(&packed)));
    }
    println!("{}", sums.iter().sum::<u64>());
}
