//! The errors about functions that cannot be measured. Each one gives the reason, says what to do instead, and points at the token that
//! prevents it.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Error, LitStr, Result, Signature};

use crate::tokens::{is_punct, mentions};

/// Adds an error to those so far.
pub(crate) fn also(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}

/// Rejects functions that cannot contain a probe.
pub(crate) fn function(attrs: &[Attribute], sig: &Signature) -> Result<()> {
    if let Some(constness) = &sig.constness {
        return Err(Error::new_spanned(
            constness,
            "a `const fn` cannot be measured: the compiler may run it, and has no clock there; \
             drop `const`, or put `#[cycles]` on the functions that call it",
        ));
    }
    if let Some(attr) = attrs.iter().find(|attr| is_naked(attr)) {
        return Err(Error::new_spanned(
            attr,
            "a naked function has no place for a probe; put `#[cycles]` on the functions that call it",
        ));
    }
    Ok(())
}

/// `#[unsafe(naked)]`, also beneath a `cfg_attr`.
fn is_naked(attr: &Attribute) -> bool {
    let mut paths = ["cfg_attr", "naked", "unsafe"].iter();
    paths.any(|path| attr.path().is_ident(path))
        && mentions(attr.meta.to_token_stream(), |ident| ident == "naked")
}

/// The error about a signature that the compiler has read and syn does not, because only editions before 2021 allow it.
pub(crate) fn old_signature(error: Error) -> Error {
    Error::new(
        error.span(),
        format!(
            "`#[cycles]` cannot read this signature ({error}); \
             write `dyn` before trait objects, and a name before each parameter's type"
        ),
    )
}

/// A function that ends in `;`.
pub(crate) fn without_body(name: &Ident) -> Error {
    Error::new_spanned(
        name,
        "a function without a body has nothing to measure; put `#[cycles]` on its implementations, or give it a default body",
    )
}

/// The error about an item that is neither a function nor a block of functions. `at` is its keyword.
pub(crate) fn not_a_function(at: &TokenTree) -> Error {
    Error::new_spanned(
        at,
        "`#[cycles]` measures functions: put it on a `fn`, or on an `impl`, `trait` or inline `mod` to measure every function inside",
    )
}

/// Rejects an argument for a function that another attribute already measures. Without one there is nothing more to do.
pub(crate) fn already_measured(argument: Option<TokenStream>) -> Result<()> {
    argument.map_or(Ok(()), |argument| Err(comes_too_late(&argument)))
}

/// The error about `argument` of a second `#[cycles]` on a function that is already measured.
pub(crate) fn comes_too_late(argument: &TokenStream) -> Error {
    Error::new_spanned(
        argument,
        "another `#[cycles]` above measures this function already; write the attribute only once, and under its own name, `#[cycles(…)]`",
    )
}

/// The error about `bytes`, `items` or `record` on a block, which has no parameters.
pub(crate) fn expression_of_block(key: &Ident) -> Error {
    Error::new_spanned(
        key,
        format!(
            "`{key} = …` is an expression over the parameters of one function; put it on the functions themselves"
        ),
    )
}

/// The error about `record` on a function whose body makes a future.
pub(crate) fn record_of_returned_future(key: &Ident) -> Error {
    Error::new_spanned(
        key,
        "`record = …` needs an `async fn`: this function returns a future, whose block has taken the parameters by the time a call is over",
    )
}

/// Rejects a block that waits. While its future is suspended, the thread goes on with other code, and the frames of the calls around the
/// block, which its own frame refers to, end. What nested `async` blocks, closures and functions wait for is theirs.
pub(crate) fn await_in(block: TokenStream) -> Result<()> {
    let mut begun = Async::Nothing;
    let mut after_dot = false;
    for tree in block {
        match &tree {
            _ if begun != Async::Nothing => {}
            TokenTree::Group(group) => await_in(group.stream())?,
            TokenTree::Ident(ident) if ident == "await" && after_dot => {
                return Err(Error::new_spanned(
                    ident,
                    "`cycles_block!` cannot measure a block that waits; put this code into an `async fn` with `#[cycles]`",
                ));
            }
            _ => {}
        }
        begun = begun.after(&tree);
        after_dot = is_punct(Some(&tree), '.');
    }
    Ok(())
}

/// What an `async` has begun.
#[derive(Clone, Copy, PartialEq)]
enum Async {
    Nothing,
    /// A function, a block, or a closure that says what it returns: ends with the next braces.
    Braced,
    /// The parameters of a closure.
    Params,
    /// What follows these.
    Closure,
    /// The body of a closure without braces: ends with the next `,` or `;`.
    Unbraced,
}

impl Async {
    fn after(self, tree: &TokenTree) -> Self {
        let punct = match tree {
            TokenTree::Punct(punct) => punct.as_char(),
            TokenTree::Ident(ident) if ident == "async" && self == Self::Nothing => {
                return Self::Braced;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => '}',
            _ => ' ',
        };
        match (self, punct) {
            (Self::Braced, '}' | ';') | (Self::Closure, '}') | (Self::Unbraced, ',' | ';') => {
                Self::Nothing
            }
            (Self::Braced, '|') => Self::Params,
            (Self::Params, '|') => Self::Closure,
            (Self::Closure, '-') => Self::Braced,
            (Self::Closure, _) => Self::Unbraced,
            (begun, _) => begun,
        }
    }
}

/// The error with a message, a string literal, about the tokens that follow it, or about the whole macro call if there are none.
pub(crate) fn unexpected(message_and_tokens: TokenStream) -> Error {
    let parsed = |input: ParseStream<'_>| -> Result<(LitStr, TokenStream)> {
        Ok((input.parse()?, input.parse()?))
    };
    match parsed.parse2(message_and_tokens) {
        Ok((message, tokens)) if tokens.is_empty() => {
            Error::new(Span::call_site(), message.value())
        }
        Ok((message, tokens)) => Error::new_spanned(tokens, message.value()),
        Err(error) => error,
    }
}
