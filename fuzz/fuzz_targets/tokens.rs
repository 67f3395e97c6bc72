//! Token streams: each byte is a token of a table, so that every input is one and most mutations stay close to Rust.

#![no_main]

use proc_macro2::{Delimiter, Group, TokenStream};

/// What a byte stands for.
#[rustfmt::skip]
const TOKENS: [&str; 104] = [
    // What bodies, arguments and signatures are made of.
    "fn", "async", "const", "unsafe", "extern", "\"C\"", "pub", "impl", "trait", "mod", "struct", "enum", "use", "static", "type", "let",
    "mut", "ref", "self", "Self", "super", "crate", "where", "for", "in", "if", "else", "match", "loop", "while", "return", "break",
    "continue", "move", "await", "dyn", "as", "default", "safe", "auto", "union", "macro_rules",
    "a", "b", "f", "g", "T", "U", "x", "Box", "Pin", "pin", "Future", "Iterator", "Output", "u64", "str", "main", "__slot", "__callsite",
    "name", "fence", "bytes", "items", "per_type", "skip", "cycles", "cfg", "cfg_attr", "inline", "naked", "_",
    "\"lfence\"", "\"none\"", "\"\"", "1", "1.0", "'c'", "b\"b\"", "\"{a}\"", "'a", "'static",
    "=", "==", "=>", "->", "::", ":", ";", ",", ".", "..", "&", "&&", "|", "||", "*", "+", "-", "<", ">", "!", "?", "#",
];

const OPEN: [Delimiter; 4] = [
    Delimiter::Brace,
    Delimiter::Parenthesis,
    Delimiter::Bracket,
    Delimiter::None,
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.iter().copied();
    let args = stream(&mut bytes, 0);
    let item = stream(&mut bytes, 0);
    tsc_fuzz::check(args, item);
});

/// The tokens up to a closing byte or the end.
fn stream(bytes: &mut impl Iterator<Item = u8>, depth: usize) -> TokenStream {
    let mut tokens = TokenStream::new();
    while let Some(byte) = bytes.next() {
        let byte = usize::from(byte);
        if let Some(text) = TOKENS.get(byte) {
            tokens.extend(text.parse::<TokenStream>().unwrap());
            continue;
        }
        match OPEN.get(byte % 8) {
            Some(&delimiter) if depth < 30 => {
                let inside = stream(bytes, depth + 1);
                tokens.extend([proc_macro2::TokenTree::Group(Group::new(delimiter, inside))]);
            }
            Some(_) => {}
            None => break,
        }
    }
    tokens
}
