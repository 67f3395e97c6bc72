//! The expression of `record = …`, which is evaluated only for calls that are kept.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::{Expr, ExprClosure};

use crate::args::Args;

// Input:  expr                 or  move || expr
// Output: || recorded(expr)    or  move || recorded(expr)
//
// The closure borrows what the expression uses until the function's end. A closure of the user's decides otherwise: `move` copies numbers at
// the start, so that the body may change them.
pub(crate) fn closure(args: &Args, value: &Expr, span: Span) -> TokenStream {
    let private = args.private(span);
    let capture = match value {
        Expr::Closure(closure) if is_plain(closure) => closure.capture.as_ref(),
        _ => None,
    };
    let body = body(value);
    quote_spanned!(span=> #capture || #private::recorded(#body))
}

// Output: check_recorded(expr);
pub(crate) fn check(args: &Args, value: &Expr, span: Span) -> TokenStream {
    let private = args.private(span);
    let body = body(value);
    quote_spanned!(span=> #private::check_recorded(#body);)
}

fn body(value: &Expr) -> TokenStream {
    match value {
        Expr::Closure(closure) if is_plain(closure) => closure.body.to_token_stream(),
        _ => value.to_token_stream(),
    }
}

fn is_plain(closure: &ExprClosure) -> bool {
    closure.inputs.is_empty() && closure.asyncness.is_none()
}
