//! A body in parts: what must stay first, the statements, and the expression that gives the result.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::Parser as _;
use syn::{Block, Expr, Stmt};

use crate::items;
use crate::precedence;
use crate::tokens::is_punct;

/// All of a body's tokens, in order.
pub(crate) struct Body {
    /// `#![…]` and `//!`, which are legal only at the very front.
    pub(crate) inner_attrs: TokenStream,
    /// The items at the front. They stay before the probe, because the probe is a statement, and clippy warns of items after statements.
    pub(crate) items: TokenStream,
    pub(crate) stmts: TokenStream,
    /// The last expression, if it computes something and the function returns it.
    pub(crate) tail: Option<TokenStream>,
}

impl Body {
    /// Looks for a tail only if `returns` is true: the function returns a value whose type can be named.
    pub(crate) fn split(body: &Group, returns: bool) -> Self {
        let mut trees = precedence::trees(body.stream());
        let inner_attrs = take(&mut trees, items::inner_attrs_len);
        let items = take(&mut trees, items::leading_items_len);
        let (stmts, tail) = if returns {
            split_tail(trees)
        } else {
            (trees.into_iter().collect(), None)
        };
        Self {
            inner_attrs,
            items,
            stmts,
            tail,
        }
    }
}

/// Removes and returns as many tokens as `len` says from the front of `trees`.
fn take(trees: &mut Vec<TokenTree>, len: fn(&[TokenTree]) -> usize) -> TokenStream {
    trees.drain(..len(trees)).collect()
}

/// Parses only the tokens after the last `;`. If that fails, there is no tail, and nothing forces the result to be computed before the
/// stop.
fn split_tail(mut trees: Vec<TokenTree>) -> (TokenStream, Option<TokenStream>) {
    let last = trees
        .iter()
        .rposition(|tree| is_punct(Some(tree), ';'))
        .map_or(0, |semi| semi + 1);
    let region = precedence::at_any_depth(trees.split_off(last).into_iter().collect());
    let mut stmts: TokenStream = trees.into_iter().collect();
    let Ok(mut parsed) = Block::parse_within.parse2(region.clone()) else {
        stmts.extend(region);
        return (stmts, None);
    };
    match parsed.pop() {
        Some(tail) if computes(&tail) => {
            stmts.extend(parsed.into_iter().map(Stmt::into_token_stream));
            (stmts, Some(tail.into_token_stream()))
        }
        _ => {
            stmts.extend(region);
            (stmts, None)
        }
    }
}

/// Whether `stmt` is a last expression whose value must be computed before the stop.
///
/// These are left as they are, although they may compute something: `&x`, because the words of rustc's error about a returned reference to
/// a local depend on this syntax; an `if` without an `else`, which is the user's error; and anything under an attribute, because a `#[cfg]`
/// may remove it.
fn computes(stmt: &Stmt) -> bool {
    let (attrs, computes) = match stmt {
        Stmt::Macro(stmt) => (&stmt.attrs, stmt.semi_token.is_none()),
        Stmt::Expr(expr, None) => return computes_value(expr),
        Stmt::Expr(..) | Stmt::Local(_) | Stmt::Item(_) => return false,
    };
    computes && attrs.is_empty()
}

fn computes_value(expr: &Expr) -> bool {
    let begins_with_attr = || {
        let first = expr.to_token_stream().into_iter().next();
        is_punct(first.as_ref(), '#')
    };
    let no_else = matches!(expr, Expr::If(expr) if expr.else_branch.is_none());
    let trivial = matches!(
        expr,
        Expr::Lit(_)
            | Expr::Reference(_)
            | Expr::Closure(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Continue(_)
    );
    !trivial && !no_else && !begins_with_attr()
}
