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
mod nested_attr;
mod params;
mod refuse;
mod row_name;
#[cfg(test)]
mod snapshots;
mod tokens;

/// Measures what a function costs, in TSC ticks, and what every function of an `impl`, a `trait` or an inline `mod` does.
///
/// ```ignore
/// use tsc_runtime::cycles;
///
/// #[cycles]
/// fn parse(text: &str) -> Option<u32> {
///     text.trim().parse().ok()
/// }
///
/// #[cycles(fence = "none")]
/// impl Index {
///     fn insert(&mut self, word: &str) {
///         self.words.push(word.to_owned());
///     }
///
///     #[cycles(bytes = text.len())] // the row has ticks per byte
///     fn hash(&self, text: &str) -> u64 {
///         text.bytes().map(u64::from).sum()
///     }
///
///     #[cycles(skip)] // not measured
///     fn len(&self) -> usize {
///         self.words.len()
///     }
///
///     const fn new() -> Self { // passed over: a `const fn` has no clock
///         Self { words: Vec::new() }
///     }
/// }
/// ```
///
/// | argument | meaning |
/// |---|---|
/// | `name = "…"` | the row's name; on a block, what the names in it begin with |
/// | `fence = "lfence"` | how the two reads are ordered: `lfence` (the default), `none`, `rdtscp`, `mfence`, `serialize`, `cpuid`, `cpuid-start` |
/// | `bytes = expr`, `items = expr` | an integer over the parameters: what one call works on |
/// | `per_type` | a row for each instantiation of a generic function |
/// | `skip` | leaves a function of a block as it is |
/// | `crate = path` | where `tsc_runtime` is found, for macros that bring the attribute along |
///
/// Arguments on a block hold for all in it; a function's own win. A block knows the attributes inside it by their name: one that was
/// imported under another (`use tsc_runtime::cycles as measured`) adds no second probe, and is refused if it has arguments.
///
/// # What is measured
///
/// From the function's first statement to the drop of its locals, on every way out: the end, `return`, `?`, a panic. Parameters drop
/// after the stop, and so do the temporaries of the last expression up to edition 2021; from 2024 on those drop before it. The result
/// of the last expression is computed before the stop. What an early `return` computes from local values alone may be computed after
/// it, for the statements are not touched.
///
/// An `async fn` is measured poll by poll, and so is a function that ends in an `async` block or in `Box::pin` of one, which is what
/// `#[async_trait]` makes: time suspended is in the row's wall ticks only. Any other function that returns a future is measured as
/// what it is, the making of the future.
///
/// # What stays
///
/// Drop order, panics, backtraces, `Location::caller()`, `Send`, and the compiler's messages about the body. Of an `async fn` they say
/// "block" where they would say "function", and some of their secondary labels differ; its backtraces have one frame more, the poll
/// around it. A future grows by 24 bytes; more only under another attribute that must still see an `async fn`, for then it holds its
/// parameters twice. With neither of the features `debug-builds` and `release-builds`, and in release builds with the first alone, the
/// arguments are checked and the function is compiled as it was written.
#[proc_macro_attribute]
pub fn cycles(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_item(args.into(), item.into()).into()
}

/// Nothing, or what `cycles_block!` and `start!` say of a fence that they do not know: a macro by example cannot point at one of its
/// tokens.
#[doc(hidden)]
#[proc_macro]
pub fn check_fence(token: proc_macro::TokenStream) -> proc_macro::TokenStream {
    fence::check(token.into())
        .map_or_else(syn::Error::into_compile_error, |()| TokenStream::new())
        .into()
}

/// The error of a macro by example about tokens it did not expect: first the message, a string literal, then those tokens.
#[doc(hidden)]
#[proc_macro]
pub fn unexpected(message_and_tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse::unexpected(message_and_tokens.into())
        .into_compile_error()
        .into()
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
