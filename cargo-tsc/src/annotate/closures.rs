//! The closures and `async` blocks that get a probe of their own. Their time is that of the innermost function that runs them, which is another
//! one than that in which they are written if it is in another thread or crate.

use std::ops::{Range, RangeInclusive};

use proc_macro2::{Ident, Span};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprAsync, ExprClosure, ExprMethodCall, Signature, Stmt};

use super::exempt;

/// The closures of an item.
#[derive(Default)]
pub(super) struct Closures {
    pub numbers: Numbers,
    /// Whether they get no probe, as their function.
    pub are_left_out: bool,
    /// The line of their function.
    pub line: Option<u32>,
    /// All lines of their function.
    pub lines: Option<RangeInclusive<u32>>,
    /// Where the `async` block begins that the function returns.
    pub at_end: Option<usize>,
}

/// The closures of one item, or of one closure. They are numbered as in the names that the compiler gives them, which also counts those in the
/// arguments of macros.
#[derive(Default)]
pub(super) struct Numbers {
    /// The names of the closures around.
    around: String,
    next: usize,
}

impl Numbers {
    /// The name of the next closure in the function: `{closure#0}::{closure#1}`.
    pub(super) fn name(&self) -> String {
        format!("{}{{closure#{}}}", self.around, self.next)
    }

    /// Those in the next closure.
    pub(super) fn inside(&self) -> Self {
        Self {
            around: format!("{}::", self.name()),
            next: 0,
        }
    }

    /// The next closure was numbered.
    pub(super) const fn advance(&mut self) {
        self.next += 1;
    }
}

/// What is measured of a closure or an `async` block.
pub(super) struct Measured {
    /// The closure's body, or the block.
    pub whole: Span,
    /// The place of what is inside the macro.
    pub part: Range<usize>,
    /// The macro.
    pub by: &'static str,
    /// What is before and after that inside the macro.
    pub brackets: [&'static str; 2],
}

/// What is measured of a closure. `None` if it takes less time than a probe, or only calls a function.
pub(super) fn measured(closure: &ExprClosure) -> Option<Measured> {
    let body = &*closure.body;
    let is_plain =
        closure.attrs.is_empty() && closure.constness.is_none() && closure.asyncness.is_none();
    let part = match body {
        // What the closure returns may have a type, after which there must be a block.
        Expr::Block(block) if block.attrs.is_empty() && block.label.is_none() => {
            let braces = block.block.brace_token.span;
            braces.open().byte_range().end..braces.close().byte_range().start
        }
        Expr::Block(_) | Expr::Async(_) => return None,
        body => body.span().byte_range(),
    };
    let is_measured = is_plain && !exempt::is_short(body) && does_more_than_call(body);
    is_measured.then(|| Measured {
        whole: body.span(),
        part,
        by: "__closure",
        // With the parentheses, an expression may begin with a block, as in `unsafe { f() } as u8`.
        brackets: match body {
            Expr::Block(_) => ["{", " }"],
            _ => ["{ (", ") }"],
        },
    })
}

impl Closures {
    /// What is measured of an `async` block. `None` if it only calls a function, or is what the function returns: the attribute measures the
    /// function poll by poll then.
    pub(super) fn measured_future(&self, block: &ExprAsync) -> Option<Measured> {
        let whole = block.span();
        let does_more = do_more_than_call(&block.block.stmts);
        let is_at_end = self.at_end == Some(whole.byte_range().start);
        (does_more && block.attrs.is_empty() && !is_at_end).then(|| Measured {
            whole,
            part: whole.byte_range(),
            by: "__future",
            brackets: ["", ""],
        })
    }
}

/// Where the `async` block begins that a function returns, alone or in `Box::pin(…)`. The attribute recognises it by the function's type.
pub(super) fn at_end(sig: &Signature, body: &Block) -> Option<usize> {
    let is_future = |ident: &Ident| ident.to_string().ends_with("Future");
    if sig.asyncness.is_some() || !exempt::mention(sig.output.to_token_stream(), &is_future) {
        return None;
    }
    let Stmt::Expr(last, None) = body.stmts.last()? else {
        return None;
    };
    let future = match last {
        Expr::Call(call) if is_pin(&call.func) && call.args.len() == 1 => call.args.first()?,
        last => last,
    };
    matches!(future, Expr::Async(_)).then(|| future.span().byte_range().start)
}

/// Whether the closures that a method gets run in the child of a fork, which must do little, and without threads.
pub(super) fn are_for_child(call: &ExprMethodCall) -> bool {
    ["pre_exec", "before_exec"]
        .iter()
        .any(|name| call.method == name)
}

/// Whether a function is `Box::pin`.
fn is_pin(function: &Expr) -> bool {
    let Expr::Path(function) = function else {
        return false;
    };
    let last = function.path.segments.last();
    last.is_some_and(|last| last.ident == "pin")
}

/// Whether a body does more than call one function or macro.
fn does_more_than_call(body: &Expr) -> bool {
    match body {
        Expr::Block(body) => do_more_than_call(&body.block.stmts),
        Expr::Unsafe(body) => do_more_than_call(&body.block.stmts),
        body => {
            let mut structure = Structure::default();
            structure.visit_expr(body);
            structure.does_more
        }
    }
}

fn do_more_than_call(statements: &[Stmt]) -> bool {
    match statements {
        [] | [Stmt::Macro(_)] => false,
        [Stmt::Expr(only, _)] => does_more_than_call(only),
        _ => true,
    }
}

/// Whether something in an expression is more than a call.
#[derive(Default)]
struct Structure {
    does_more: bool,
}

impl<'ast> Visit<'ast> for Structure {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        self.does_more |= matches!(
            expression,
            Expr::Block(_)
                | Expr::Closure(_)
                | Expr::ForLoop(_)
                | Expr::If(_)
                | Expr::Loop(_)
                | Expr::Match(_)
                | Expr::Unsafe(_)
                | Expr::While(_)
        );
        visit::visit_expr(self, expression);
    }

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
}
