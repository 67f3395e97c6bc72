//! Keeps a timed function out of its callers.
//!
//! In a caller's loop with the same arguments, the compiler would move the work of an inlined function out of the loop, and thus out of the measured
//! region. Passing the addresses of the arguments to an `asm!` block prevents this, too, but then every store through a pointer might change them, and
//! a loop like `a[i] += b[i]` over slices computes with one number at a time in place of vectors.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::{Attribute, Meta};

use crate::function::Function;
use crate::items;
use crate::tokens::mentions;

// Input:  #[inline] #[must_use] pub fn f(a: A) -> R
// Output: #[inline(never)] #[must_use] pub fn f(a: A) -> R
//
// What else the user says about inlining stays: `always`, because the function may compute with vectors of its caller's target features.
pub(crate) fn prevent(function: &Function) -> TokenStream {
    let Function { head, attrs, .. } = function;
    if attrs.iter().any(decides) {
        return head.clone();
    }
    let trees: Vec<TokenTree> = head.clone().into_iter().collect();
    let (of_attrs, rest) = trees.split_at(items::attrs_len(&trees));
    let others = of_attrs.chunks(2).zip(attrs);
    let others = others.filter(|(_, attr)| !attr.path().is_ident("inline"));
    let others = others.flat_map(|(trees, _)| trees);
    let rest = others.chain(rest);
    quote_spanned!(Span::mixed_site()=> #[inline(never)] #(#rest)*)
}

/// Whether an attribute decides about inlining, perhaps under a condition.
fn decides(attr: &Attribute) -> bool {
    let is_inline = attr.path().is_ident("inline");
    let is_conditional = attr.path().is_ident("cfg_attr");
    let of_inline = |ident: &str| ident == "inline";
    is_inline && !matches!(attr.meta, Meta::Path(_))
        || is_conditional && mentions(attr.meta.to_token_stream(), of_inline)
}
