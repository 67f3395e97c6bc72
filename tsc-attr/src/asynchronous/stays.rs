//! Whether a function must stay `async`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, FnArg};

use crate::function::Function;
use crate::return_type;
use crate::tokens::mentions;

/// Attributes that are not macros, and for which it does not matter whether the function is `async`.
const INERT: [&str; 13] = [
    "allow",
    "cfg",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "export_name",
    "forbid",
    "inline",
    "no_mangle",
    "warn",
    "link_section",
];

pub(super) fn must_stay_async(function: &Function) -> bool {
    let sig = &function.sig;
    let elides = |input: &FnArg| elides_in_impl(input.to_token_stream(), false);
    sig.ident == "main"
        || return_type::is_never(&sig.output)
        || !function.attrs.iter().all(is_inert)
        || sig.inputs.iter().any(elides)
}

/// Whether a lifetime after an `impl` has no name, as in `impl Iterator<Item = &u32>`: only an `async fn` may have it. Those in
/// `impl Fn(&u32)` belong to the trait.
fn elides_in_impl(tokens: TokenStream, mut after_impl: bool) -> bool {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    trees.iter().enumerate().any(|(at, tree)| {
        let is_next = |text: &str| {
            trees
                .get(at + 1)
                .is_some_and(|next| next.to_string() == text)
        };
        after_impl |= matches!(tree, TokenTree::Ident(ident) if ident == "impl");
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '&' => after_impl && !is_next("'"),
            TokenTree::Punct(punct) => after_impl && punct.as_char() == '\'' && is_next("_"),
            TokenTree::Group(group) => {
                let of_fn = at > 0 && matches!(trees[at - 1], TokenTree::Ident(_));
                !of_fn && elides_in_impl(group.stream(), after_impl)
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        }
    })
}

/// Whether `attr` cannot be a macro, and does not expect that a lint finds the word `async`.
pub(crate) fn is_inert(attr: &Attribute) -> bool {
    let path = attr.path();
    let is_about_async = || mentions(attr.meta.to_token_stream(), |lint| lint.contains("async"));
    if path.is_ident("expect") && is_about_async() {
        return false;
    }
    let is_tool = |tool: &str| {
        path.segments
            .first()
            .is_some_and(|first| first.ident == tool)
    };
    INERT.iter().any(|name| path.is_ident(name)) || is_tool("clippy") || is_tool("rustfmt")
}
