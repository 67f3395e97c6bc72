//! Implementation detail of `tsc-runtime`: the attribute `#[cycles]`.
//!
//! The macro returns the tokens of an item with a probe in each function's body. It parses signatures, and of a body only what follows its
//! last `;`. What the user wrote keeps its tokens and its spans, so the compiler's messages about it do not change.

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
mod inlining;
mod items;
mod nested_attr;
mod precedence;
mod recording;
mod refuse;
mod return_type;
mod row_name;
#[cfg(test)]
mod snapshots;
mod tokens;

/// Measures what a function costs, in TSC ticks. On an `impl`, a `trait` or an inline `mod`, measures every function inside.
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
/// | `name = "…"` | the row's name; on a block, what stands before `::` and the name of each function in it |
/// | `fence = "lfence"` | how the two reads are ordered: `lfence` (the default), `none`, `rdtscp`, `mfence`, `serialize`, `cpuid`, `cpuid-start` |
/// | `bytes = expr`, `items = expr` | an integer over the parameters: how much one call works on; a negative one counts as 0 |
/// | `record = expr` | a number, a `bool` or a text of up to 32 bytes over the parameters, which is kept of the slowest calls |
/// | `light` | counts every call, and tells its time from ticks of a clock: for functions that take less than about 100 ns |
/// | `per_type` | a row for each instantiation of a generic function |
/// | `skip` | on a function in a block: do not measure it |
/// | `crate = path` | the path of `tsc_runtime`, if it is renamed or the attribute comes from a macro |
///
/// Arguments on a block apply to all functions in it; a function's own arguments take precedence. A block recognises the attributes inside
/// it by their name: one that was imported under another name (`use tsc_runtime::cycles as measured`) adds no second probe, and is an error
/// if it has arguments. One under a condition, `cfg_attr(…, cycles(…))`, decides alone about its item: no argument of the block applies to
/// it, and it is not measured where the condition does not hold.
///
/// # What is measured
///
/// A call is measured from the function's first statement until its locals are dropped, on every way out: the end, `return`, `?`, a panic.
/// Parameters are dropped after the stop, and so are the temporaries of the last expression up to edition 2021; from edition 2024 on, these
/// are dropped before it. The result of the last expression is computed before the stop. A value that an early `return` computes from
/// locals alone may be computed after the stop, because the statements do not change.
///
/// The compiler does not inline a timed function into its callers, because it might move the work there, out of what is measured. A function
/// with `#[inline(always)]` is inlined. The body is optimised as it is without a probe.
///
/// An `async fn` is measured poll by poll, and so is a function that ends in an `async` block or in `Box::pin` of one, and in whose return type
/// the word `Future` is, which is what `#[async_trait]` makes: time suspended is in the row's wall ticks only. A call of such a function
/// that returns before this block is not counted. For any other function that returns a future, only its creation is measured.
///
/// # What does not change
///
/// Drop order, panics, backtraces, `Location::caller()`, `Send`, and the compiler's messages about the body. For an `async fn` they say
/// "block" instead of "function", and some of their secondary labels differ; its backtraces have one more frame, the poll around it. A
/// future grows by 24 bytes, and with `record` by 16 more and what the expression borrows, which must be `Sync` for the future to be `Send`.
/// It grows by more only if another attribute must still see an `async fn`, because it then holds its parameters twice; those that are patterns
/// then drop in another order. In an `async fn` that returns `impl Trait`, a closure there needs the types of its parameters.
///
/// Without the features `debug-builds` and `release-builds`, and in a release build with only the first, the arguments are checked and the
/// function is compiled as it was written.
#[proc_macro_attribute]
pub fn cycles(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_item(args.into(), item.into()).into()
}

/// Expands to nothing, or to the error about a fence that `cycles_block!` or `start!` does not know: an error of a `macro_rules!` macro
/// cannot point at one of its tokens.
#[doc(hidden)]
#[proc_macro]
pub fn check_fence(token: proc_macro::TokenStream) -> proc_macro::TokenStream {
    fence::check(token.into())
        .map_or_else(syn::Error::into_compile_error, |()| TokenStream::new())
        .into()
}

/// Expands to nothing, or to the error about an `.await` in the block of `cycles_block!`.
#[doc(hidden)]
#[proc_macro]
pub fn check_block(block: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse::await_in(block.into())
        .map_or_else(syn::Error::into_compile_error, |()| TokenStream::new())
        .into()
}

/// Expands to the error about tokens that a `macro_rules!` macro did not expect. The input is the message, a string literal, and then those
/// tokens.
#[doc(hidden)]
#[proc_macro]
pub fn unexpected(message_and_tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse::unexpected(message_and_tokens.into())
        .into_compile_error()
        .into()
}

/// Expands the item. On an error, returns the error and the item as written, because a missing item would cause further errors.
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
