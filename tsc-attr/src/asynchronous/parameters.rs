//! Binds the parameters of an `async fn` inside of its future.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Attribute, FnArg, Pat, PatIdent, Signature};

use crate::tokens::mentions;

// Input:  fn f(a: A, mut b: B, (c, _): (C, D))
// Output: fn f(a: A, b: B, __arg2: (C, D))
//     and let a = a; let mut b = b; let __arg2 = __arg2; let (c, _) = __arg2;
//
// If the function stays `async`, its patterns stay in the signature, and the block captures the names that they bind.
pub(super) fn bind_inside(sig: &mut Signature, keeps_async: bool) -> TokenStream {
    let span = Span::mixed_site();
    let mut lets = TokenStream::new();
    for (index, input) in sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(typed) = input else {
            continue;
        };
        let (attrs, pat) = (&mut typed.attrs, &mut *typed.pat);
        if let Pat::Ident(PatIdent {
            by_ref: None,
            subpat: None,
            mutability,
            ident,
            ..
        }) = pat
        {
            let mutability = mutability.take();
            let [lints, cfgs] = take_lints(attrs);
            let unused = ident.to_string().starts_with('_').then(|| {
                quote_spanned!(span=> #[allow(clippy::used_underscore_binding, clippy::no_effect_underscore_binding)])
            });
            lets.extend(
                quote_spanned!(span=> #cfgs #lints #unused let #mutability #ident = #ident;),
            );
        } else if !keeps_async {
            let name = format_ident!("__arg{index}", span = span);
            let renamed = Pat::Verbatim(name.to_token_stream());
            let pat = std::mem::replace(pat, renamed);
            let [lints, cfgs] = take_lints(attrs);
            let borrows = pat.to_token_stream().to_string().contains("ref mut");
            let mutability = borrows.then(|| quote_spanned!(span=> mut));
            lets.extend(
                quote_spanned!(span=> #cfgs let #mutability #name = #name; #cfgs #lints let #pat = #name;),
            );
        }
    }
    lets
}

/// Moves the attributes of a parameter that are about lints: they are for what is bound in its place. What they allow is allowed in both
/// places. Returns them, and those that decide whether the parameter is there.
fn take_lints(attrs: &mut Vec<Attribute>) -> [TokenStream; 2] {
    const LINTS: [&str; 5] = ["allow", "deny", "expect", "forbid", "warn"];
    let is_lint = |attr: &Attribute| {
        let is_conditional = attr.path().is_ident("cfg_attr");
        let of_meta = |ident: &str| LINTS.contains(&ident);
        LINTS.iter().any(|lint| attr.path().is_ident(lint))
            || is_conditional && mentions(attr.meta.to_token_stream(), of_meta)
    };
    let (lints, others): (Vec<_>, _) = std::mem::take(attrs).into_iter().partition(is_lint);
    let tokens = quote!(#(#lints)*);
    *attrs = others;
    attrs.extend(lints.into_iter().filter(|it| it.path().is_ident("allow")));
    let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    [tokens, quote!(#(#cfgs)*)]
}
