//! The invisible groups around what a `macro_rules!` macro passes on, as `$e:expr`.
//!
//! rustc ignores such a group where an attribute returns it, unless it is in a group that the attribute has not opened
//! (rust-lang/rust#67062): `$e * 2` with `1 + 2` would become `1 + 2 * 2`. So a group gets parentheses where its content would bind to what
//! stands beside it. All others stay as they are, because a macro's input may have other text with parentheses.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::{Block, Expr, Type};

use crate::tokens::delimited;

/// The trees of `tokens`. Of these alone the groups count, not those in other groups.
pub(crate) fn trees(tokens: TokenStream) -> Vec<TokenTree> {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    for at in 0..trees.len() {
        if let TokenTree::Group(group) = &trees[at]
            && is_torn(&trees[..at], group, &trees[at + 1..])
        {
            // The lint `unused_parens` is silent about what an expansion adds.
            let span = Span::mixed_site().located_at(group.span());
            trees[at] = delimited(Delimiter::Parenthesis, group.stream(), span);
        }
    }
    trees
}

/// The same at any depth, for tokens that syn parses: it opens every group but the input of a macro.
pub(crate) fn at_any_depth(tokens: TokenStream) -> TokenStream {
    let trees = trees(tokens);
    let inside = |(at, tree): (usize, &TokenTree)| match tree {
        TokenTree::Group(group) if holds_any(group.stream()) && !ends_in_macro(&trees[..at]) => {
            delimited(
                group.delimiter(),
                at_any_depth(group.stream()),
                group.span(),
            )
        }
        tree => tree.clone(),
    };
    trees.iter().enumerate().map(inside).collect()
}

/// Whether an invisible group is anywhere in `tokens`. Groups without one keep the spans of both their ends.
fn holds_any(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => {
            group.delimiter() == Delimiter::None || holds_any(group.stream())
        }
        _ => false,
    })
}

/// Whether `trees` end in `name!`, and not in `return !` or the like.
fn ends_in_macro(trees: &[TokenTree]) -> bool {
    let [.., name, TokenTree::Punct(bang)] = trees else {
        return false;
    };
    bang.as_char() == '!' && syn::parse2::<Ident>(name.clone().into()).is_ok()
}

/// Whether the content of an invisible group between `before` and `after` comes apart without the group.
fn is_torn(before: &[TokenTree], group: &Group, after: &[TokenTree]) -> bool {
    if group.delimiter() != Delimiter::None {
        return false;
    }
    let [prefix, postfix] = [ends_in_operator(before), begins_with_postfix(after)];
    let infix = prefix || postfix || begins_with_infix(after);
    match syn::parse2::<Expr>(group.stream()) {
        Ok(expr) => {
            infix && is_loose(&expr)
                || postfix && is_prefixed(&expr)
                || begins_statement(before) && ends_early(&expr)
        }
        Err(_) => prefix && syn::parse2(group.stream()).is_ok_and(|ty| is_sum(&ty)),
    }
}

/// Whether an operator before or after `expr` takes only a part of it.
fn is_loose(expr: &Expr) -> bool {
    match expr {
        Expr::Group(group) => is_loose(&group.expr),
        Expr::Assign(_) | Expr::Binary(_) | Expr::Cast(_) | Expr::Closure(_) | Expr::Range(_) => {
            true
        }
        Expr::Break(_) | Expr::Return(_) => true,
        // Its braces would be taken for those after a condition.
        Expr::Struct(_) => true,
        _ => false,
    }
}

/// Whether what follows `expr` would come before its own operator, as in `-1.abs()`, or make it a method, as in `a.field(1)`.
fn is_prefixed(expr: &Expr) -> bool {
    match expr {
        Expr::Group(group) => is_prefixed(&group.expr),
        Expr::Field(_) | Expr::RawAddr(_) | Expr::Reference(_) | Expr::Unary(_) => true,
        _ => false,
    }
}

/// Whether `expr` as a statement would end before its own operator, as in `unsafe { f() } as u32`.
fn ends_early(expr: &Expr) -> bool {
    match expr {
        Expr::Group(group) => ends_early(&group.expr),
        expr => {
            !matches!(Block::parse_within.parse2(expr.to_token_stream()), Ok(all) if all.len() == 1)
        }
    }
}

/// Whether `ty` has a `+`.
fn is_sum(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_sum(&group.elem),
        Type::TraitObject(ty) => ty.bounds.len() > 1,
        Type::ImplTrait(ty) => ty.bounds.len() > 1,
        _ => false,
    }
}

/// Whether what follows `trees` may be a statement or the value of a match arm.
fn begins_statement(trees: &[TokenTree]) -> bool {
    match trees {
        [] => true,
        [.., TokenTree::Punct(equals), TokenTree::Punct(greater)] if greater.as_char() == '>' => {
            equals.as_char() == '='
        }
        [.., TokenTree::Punct(punct)] => punct.as_char() == ';',
        [.., TokenTree::Group(group)] => group.delimiter() == Delimiter::Brace,
        _ => false,
    }
}

/// Whether what follows `trees` may be an operand: `a *`, `a ==`, `&`, `&mut`, `&'a`; and not `a =`, `a =>` or `->`.
fn ends_in_operator(trees: &[TokenTree]) -> bool {
    let is_joint = |tree: Option<&TokenTree>, chars: &str| matches!(tree, Some(TokenTree::Punct(punct)) if punct.spacing() == Spacing::Joint && chars.contains(punct.as_char()));
    let Some((last, before)) = trees.split_last() else {
        return false;
    };
    match last {
        TokenTree::Punct(punct) => match punct.as_char() {
            ';' | ',' | ':' => false,
            '=' => is_joint(before.last(), "=!<>"),
            '>' => !is_joint(before.last(), "=-"),
            _ => true,
        },
        TokenTree::Ident(ident) => {
            ident == "mut" || ident == "const" || is_joint(before.last(), "'")
        }
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}

/// Whether `trees` begin with what binds closer than any operator: `.a`, `?`, `(a)`, `[a]`.
fn begins_with_postfix(trees: &[TokenTree]) -> bool {
    match trees {
        [TokenTree::Punct(punct), rest @ ..] => match punct.as_char() {
            '.' => !matches!(rest, [TokenTree::Punct(next), ..] if next.as_char() == '.'),
            char => char == '?',
        },
        [TokenTree::Group(group), ..] => {
            matches!(
                group.delimiter(),
                Delimiter::Parenthesis | Delimiter::Bracket
            )
        }
        _ => false,
    }
}

/// Whether `trees` begin with an operator between operands, with `as`, or with the braces after a condition.
fn begins_with_infix(trees: &[TokenTree]) -> bool {
    match trees {
        [TokenTree::Punct(punct), rest @ ..] => match punct.as_char() {
            ';' | ',' | ':' => false,
            '=' => matches!(rest, [TokenTree::Punct(next), ..] if next.as_char() == '='),
            _ => true,
        },
        [TokenTree::Ident(ident), ..] => ident == "as",
        [TokenTree::Group(group), ..] => group.delimiter() == Delimiter::Brace,
        _ => false,
    }
}
