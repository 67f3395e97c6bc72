use tsc_runtime::cycles;

#[cycles]
struct Parser;

#[cycles]
pub const LIMIT: usize = 3;

#[cycles]
use std::mem;

#[cycles]
enum Token {
    Word,
}

fn main() {
    let _ = (Parser, Token::Word, mem::size_of::<[u8; LIMIT]>());
}
