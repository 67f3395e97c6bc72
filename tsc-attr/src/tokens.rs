//! Helpers that inspect and build tokens.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

/// Whether `wanted` holds for any identifier in `tokens`, at any depth.
pub(crate) fn mentions(tokens: TokenStream, wanted: fn(&str) -> bool) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => wanted(&ident.to_string()),
        TokenTree::Group(group) => mentions(group.stream(), wanted),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Whether the token is this character.
pub(crate) fn is_punct(tree: Option<&TokenTree>, char: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

/// `{ tokens }` or `( tokens )` at `span`.
///
/// A body's braces keep the span of the braces as written: their edition decides when temporaries drop.
pub(crate) fn delimited(delimiter: Delimiter, tokens: TokenStream, span: Span) -> TokenTree {
    let mut group = Group::new(delimiter, tokens);
    group.set_span(span);
    group.into()
}

/// The spans of the first and the last of `tokens`, or twice `otherwise` if there are none.
pub(crate) fn ends(tokens: &TokenStream, otherwise: Span) -> (Span, Span) {
    let mut spans = tokens.clone().into_iter().map(|tree| tree.span());
    let first = spans.next().unwrap_or(otherwise);
    (first, spans.last().unwrap_or(first))
}
