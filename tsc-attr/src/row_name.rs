//! The names of rows in a block that has a name.

use proc_macro2::{TokenStream, TokenTree};
use syn::{LitStr, Signature};

use crate::items;

// Input:  #[cycles(name = "net")] impl T { fn send() … }
// Output: net::send
pub(crate) fn of_function(block: Option<&LitStr>, sig: &Signature) -> Option<LitStr> {
    block.map(|block| join(block, &sig.ident.to_string()))
}

// Input:  #[cycles(name = "net")] mod m { mod n { … }  impl Send for T { … }  impl T { … }  trait U { … } }
// Output: net::n, net::<T as Send>, net::T, net::U
pub(crate) fn of_block(block: Option<&LitStr>, trees: &[TokenTree]) -> Option<LitStr> {
    block.map(|block| join(block, &subject(trees)))
}

fn join(prefix: &LitStr, name: &str) -> LitStr {
    let name = name.strip_prefix("r#").unwrap_or(name);
    LitStr::new(&format!("{}::{name}", prefix.value()), prefix.span())
}

/// The type, trait or module that an `impl`, a `trait` or a `mod` is about. `trees` begin after the attributes.
fn subject(trees: &[TokenTree]) -> String {
    let keyword = items::keyword(trees).to_string();
    let after = trees.iter().position(|tree| tree.to_string() == keyword);
    let mut header = &trees[after.map_or(0, |at| at + 1)..];
    header = header.split_last().map_or(header, |(_, header)| header);
    if keyword != "impl" {
        return header.first().map(ToString::to_string).unwrap_or_default();
    }
    header = &header[items::generics_len(header)..];
    let end = header.iter().position(|tree| tree.to_string() == "where");
    header = &header[..end.unwrap_or(header.len())];
    match items::outer_for(header) {
        Some(at) => format!("<{} as {}>", text(&header[at + 1..]), text(&header[..at])),
        None => text(header),
    }
}

/// The tokens, formatted like a type.
fn text(trees: &[TokenTree]) -> String {
    let tokens: TokenStream = trees.iter().cloned().collect();
    let spaced = tokens.to_string();
    ["<", ">", ",", "::", "&", "(", ")", "[", "]"]
        .iter()
        .fold(spaced, |text, mark| {
            let joined = text.replace(&format!(" {mark}"), mark);
            if *mark == "," {
                joined
            } else {
                joined.replace(&format!("{mark} "), mark)
            }
        })
}
