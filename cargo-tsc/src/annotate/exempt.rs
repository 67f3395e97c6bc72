//! Items that get no attribute.

use proc_macro2::{Span, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Meta, Stmt};

/// The attributes of functions that the compiler or a test runner calls, or that have an unusual body.
const SPECIAL: [&str; 10] = [
    "alloc_error_handler",
    "bench",
    "ctor",
    "dtor",
    "naked",
    "panic_handler",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "test",
];

/// Whether the function already has `#[cycles]` or opts out of it.
pub(super) fn is_annotated(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| last_word(attribute) == "cycles")
}

/// Where the arguments of the function's own `#[cycles(…)]` begin, if it may be light as well as timed.
pub(super) fn arguments(attributes: &[Attribute]) -> Option<Span> {
    const DECIDING: [&str; 4] = ["fence", "light", "record", "skip"];
    let mut cycles = attributes.iter().filter(|it| last_word(it) == "cycles");
    let Meta::List(list) = &cycles.next()?.meta else {
        return None;
    };
    let decides = |tree| matches!(tree, TokenTree::Ident(it) if DECIDING.iter().any(|of| it == of));
    let is_decided = list.tokens.is_empty() || list.tokens.clone().into_iter().any(decides);
    (!is_decided).then(|| list.delimiter.span().open())
}

/// Whether the compiler or a test runner calls the function.
pub(super) fn is_special(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let word = last_word(attribute);
        // `#[unsafe(naked)]` contains the word in its list.
        let inner = match &attribute.meta {
            Meta::List(list) if word == "unsafe" => list.tokens.to_string(),
            _ => word,
        };
        SPECIAL.contains(&inner.as_str())
    })
}

/// Whether an item exists only for tests.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        meta => meta
            .path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "test"),
    })
}

/// Whether a body is a straight line of a few operations, without a call, a loop, a macro, a closure or an await. It takes less time than
/// a probe.
pub(super) fn is_straight_line(body: &Block) -> bool {
    let mut line = StraightLine(true);
    line.visit_block(body);
    line.0
}

struct StraightLine(bool);

impl<'ast> Visit<'ast> for StraightLine {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        let is_plain = matches!(
            expression,
            Expr::Array(_)
                | Expr::Assign(_)
                | Expr::Binary(_)
                | Expr::Block(_)
                | Expr::Break(_)
                | Expr::Cast(_)
                | Expr::Field(_)
                | Expr::Group(_)
                | Expr::If(_)
                | Expr::Index(_)
                | Expr::Let(_)
                | Expr::Lit(_)
                | Expr::Match(_)
                | Expr::Paren(_)
                | Expr::Path(_)
                | Expr::Range(_)
                | Expr::Reference(_)
                | Expr::Return(_)
                | Expr::Struct(_)
                | Expr::Tuple(_)
                | Expr::Unary(_)
                | Expr::Unsafe(_)
        ) || is_constructor(expression);
        self.0 &= is_plain;
        if self.0 {
            visit::visit_expr(self, expression);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        self.0 &= matches!(statement, Stmt::Local(_) | Stmt::Expr(..));
        if self.0 {
            visit::visit_stmt(self, statement);
        }
    }
}

/// Whether the expression is like `Some(x)` or `Self::Variant(x)`. By the naming rules, calling something that begins with a capital
/// letter only creates a value.
fn is_constructor(expression: &Expr) -> bool {
    let Expr::Call(call) = expression else {
        return false;
    };
    let Expr::Path(callee) = &*call.func else {
        return false;
    };
    let last = callee.path.segments.last();
    last.is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

fn last_word(attribute: &Attribute) -> String {
    let last = attribute.path().segments.last();
    last.map_or_else(String::new, |last| last.ident.to_string())
}
