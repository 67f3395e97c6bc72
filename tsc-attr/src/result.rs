//! The hold on a function's result.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::{ReturnType, Signature, Type};

use crate::args::Args;
use crate::paths::private;

// Input:  tail
// Output: result('__tail: { if false { break '__tail absurd(); } tail })
//
// The call hands the return type down to the tail, as no `let` would. That the block can be left early makes the call reachable for
// the lint, whatever the tail does; nothing leaves it so. The spans are the tail's, for the borrow checker blames the call.
pub(crate) fn hold(args: &Args, tail: &TokenStream, body: Span) -> TokenStream {
    let (first, last) = ends(tail, body);
    // The label takes the body's span: a labelled block begins with it.
    let label = syn::Lifetime::new("'__tail", body);
    let inside = Span::mixed_site();
    let absurd = private(args, inside);
    let tail = quote_spanned!(inside=> if false { break #label #absurd::absurd(); } #tail);
    let tail = delimited(Delimiter::Brace, tail, body);
    let argument = quote_spanned!(body=> #label: #tail);
    let argument = delimited(Delimiter::Parenthesis, argument, last);
    let private = private(args, first);
    quote_spanned!(first=> #private::result #argument)
}

/// Whether the result has a type that can be named and a value worth holding.
pub(crate) fn is_named_value(sig: &Signature) -> bool {
    let ReturnType::Type(_, ty) = &sig.output else {
        return false;
    };
    match &**ty {
        Type::Never(_) | Type::Slice(_) | Type::TraitObject(_) => false,
        Type::Tuple(tuple) => !tuple.elems.is_empty(),
        ty => !mentions(ty.to_token_stream(), |ident| ident == "impl"),
    }
}

/// Whether one of the identifiers in `tokens` is wanted.
pub(crate) fn mentions(tokens: TokenStream, wanted: fn(&str) -> bool) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => wanted(&ident.to_string()),
        TokenTree::Group(group) => mentions(group.stream(), wanted),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// `{ tokens }` or `( tokens )` at `span`. A block's braces stand where the body's do: in which edition they were written decides when
/// temporaries drop.
pub(crate) fn delimited(delimiter: Delimiter, tokens: TokenStream, span: Span) -> TokenTree {
    let mut group = Group::new(delimiter, tokens);
    group.set_span(span);
    group.into()
}

/// The spans of the first and the last of `tokens`.
pub(crate) fn ends(tokens: &TokenStream, otherwise: Span) -> (Span, Span) {
    let mut spans = tokens.clone().into_iter().map(|tree| tree.span());
    let first = spans.next().unwrap_or(otherwise);
    (first, spans.last().unwrap_or(first))
}
