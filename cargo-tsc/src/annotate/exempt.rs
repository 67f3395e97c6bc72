//! What gets no attribute.

use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, ItemImpl, Meta, Stmt};

/// Attributes of functions that the compiler or a test runner calls, or that have no usual body.
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

/// Whether the function has `#[cycles]` already, or says that it wants none.
pub(super) fn is_annotated(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| last_word(attribute) == "cycles")
}

/// Whether the compiler or a test runner is the caller.
pub(super) fn is_special(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let word = last_word(attribute);
        // `#[unsafe(naked)]` holds the word in its list.
        let inner = match &attribute.meta {
            Meta::List(list) if word == "unsafe" => list.tokens.to_string(),
            _ => word,
        };
        SPECIAL.contains(&inner.as_str())
    })
}

/// Whether an item is there for tests alone.
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

/// Whether the block is a memory allocator, which the records themselves may need.
pub(super) fn is_allocator(block: &ItemImpl) -> bool {
    let of = block
        .trait_
        .as_ref()
        .and_then(|(path_of_trait, ..)| path_of_trait.segments.last());
    of.is_some_and(|last| last.ident == "GlobalAlloc")
}

/// Whether a body is a straight line of a few operations: no call, loop, macro, closure or await, so that it is done before a probe is.
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

/// `Some(x)`, `Self::Variant(x)`: by the naming rules, a call of what begins with a capital makes a value and does no work.
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
