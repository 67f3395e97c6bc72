//! What cannot be measured, each with its reason and the way out, blamed on the token that stands in the way.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Error, Result};

use crate::args::Args;
use crate::function::Function;
use crate::result::mentions;

/// Refuses the functions that no probe can be put into.
pub(crate) fn function(function: &Function) -> Result<()> {
    if let Some(constness) = &function.sig.constness {
        return Err(Error::new_spanned(
            constness,
            "a `const fn` cannot be measured: the compiler may run it, and has no clock there; \
             drop `const`, or put `#[cycles]` on the functions that call it",
        ));
    }
    if let Some(attr) = function.attrs.iter().find(|attr| is_naked(attr)) {
        return Err(Error::new_spanned(
            attr,
            "a naked function has no place for a probe; put `#[cycles]` on the functions that call it",
        ));
    }
    Ok(())
}

/// `#[unsafe(naked)]`, also beneath a `cfg_attr`.
fn is_naked(attr: &Attribute) -> bool {
    mentions(attr.meta.to_token_stream(), |ident| ident == "naked")
}

/// A function that ends in `;`.
pub(crate) fn without_body(name: &Ident) -> Error {
    Error::new_spanned(
        name,
        "a function without a body has nothing to measure; put `#[cycles]` on its implementations, or give it a default body",
    )
}

/// Something that holds no code of its own. `at` is its keyword.
pub(crate) fn not_a_function(at: &TokenTree) -> Error {
    Error::new_spanned(
        at,
        "`#[cycles]` measures functions: put it on a `fn`, or on an `impl`, `trait` or inline `mod` to measure every function inside",
    )
}

/// Refuses what is asked for a function that is measured already; measuring it as the other attribute said needs no more.
pub(crate) fn once_more(args: &Args) -> Result<()> {
    args.what_is_asked()
        .map_or(Ok(()), |asked| Err(measured_already(&asked)))
}

/// Arguments of an attribute that comes too late. `asked` is one of them.
pub(crate) fn measured_already(asked: &TokenStream) -> Error {
    Error::new_spanned(
        asked,
        "a `#[cycles]` before this one measures the function already, and could not see that this one is it; write it as `#[cycles(…)]`, \
         once, and not under another name",
    )
}

/// `bytes = …` where there are no parameters to count.
pub(crate) fn units_of_block(key: &Ident) -> Error {
    Error::new_spanned(
        key,
        format!(
            "`{key} = …` is an expression over the parameters of one function; put it on the functions themselves"
        ),
    )
}
