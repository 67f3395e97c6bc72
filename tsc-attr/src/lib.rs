//! Implementation detail of `tsc-runtime`: the attribute `#[cycles]`.
//!
//! An item comes in as tokens and leaves as the same tokens, with a probe put into each function's body. Signatures are parsed, bodies
//! are not: what the user wrote keeps its tokens and its spans, so the compiler's messages about it stay what they were.

#![forbid(unsafe_code)]

use proc_macro2::TokenStream;

mod args;
mod asynchronous;
mod block;
mod body;
mod callsite;
mod expand;
mod fence;
mod function;
mod gate;
mod items;
mod own;
mod params;
mod paths;
mod refuse;
mod result;
mod row_name;
#[cfg(test)]
mod snapshots;

/// Measures what a function costs, in TSC ticks. Documented in `tsc-runtime`, which exports it.
#[proc_macro_attribute]
pub fn cycles(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_item(args.into(), item.into()).into()
}

/// The item measured; on an error, the error and the item as it came, so that no second error follows from its absence.
fn expand_item(args: TokenStream, item: TokenStream) -> TokenStream {
    match gate::expand(args, item.clone()) {
        Ok(tokens) => tokens,
        Err(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(item);
            tokens
        }
    }
}
