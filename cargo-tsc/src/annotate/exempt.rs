//! Items that get no attribute.

use std::env::consts::{ARCH, OS};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprLit, Lit, Meta, MetaNameValue, ReturnType, Signature, Stmt, Token,
    Type, UnOp,
};

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

/// Whether the item already has `#[cycles]`, also under a condition, or opts out of it.
pub(super) fn is_annotated(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_conditional = attribute.path().is_ident("cfg_attr");
        last_word(attribute) == "cycles" || is_conditional && has_word(attribute, "cycles")
    })
}

/// Whether the item has `#[cycles(skip)]`.
pub(super) fn is_skipped(attributes: &[Attribute]) -> bool {
    let mut cycles = attributes.iter().filter(|it| last_word(it) == "cycles");
    cycles.any(|attribute| has_word(attribute, "skip"))
}

/// Whether the attribute's arguments contain an identifier.
fn has_word(attribute: &Attribute, word: &str) -> bool {
    let list = attribute.meta.require_list();
    list.is_ok_and(|list| mention(list.tokens.clone(), &|ident| ident == word))
}

/// Whether an identifier in the tokens is such a one.
pub(super) fn mention(tokens: TokenStream, is: &dyn Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => is(&ident),
        TokenTree::Group(group) => mention(group.stream(), is),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
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
        Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        _ => last_word(attribute) == "test",
    })
}

/// Whether an item exists only on machines that cannot run what is built for this one.
pub(super) fn is_for_other_machines(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_condition = attribute.path().is_ident("cfg");
        is_condition && members(&attribute.meta).is_some_and(|all| all.iter().any(is_elsewhere))
    })
}

/// Whether a condition, or one of those in its `all(…)`, holds only on other machines.
fn is_elsewhere(condition: &Meta) -> bool {
    match condition {
        Meta::List(list) if list.path.is_ident("all") => {
            members(condition).is_some_and(|all| all.iter().any(is_elsewhere))
        }
        Meta::NameValue(MetaNameValue {
            path,
            value: Expr::Lit(ExprLit {
                lit: Lit::Str(of), ..
            }),
            ..
        }) => {
            let of = of.value();
            // It also runs programs of its older architecture.
            let is_older = (ARCH, &*of) == ("x86_64", "x86");
            path.is_ident("target_arch") && of != ARCH && !is_older
                || path.is_ident("target_os") && of != OS
        }
        _ => false,
    }
}

/// What is in the parentheses of a condition.
fn members(condition: &Meta) -> Option<Punctuated<Meta, Token![,]>> {
    let list = condition.require_list().ok()?;
    list.parse_args_with(Punctuated::parse_terminated).ok()
}

/// Whether a body is a straight line of a few operations, without a call, a loop, a macro, a closure or an await. It takes less time than
/// a probe.
pub(super) fn is_straight_line(signature: &Signature, body: &Block) -> bool {
    let mut line = StraightLine {
        is_one: true,
        computes_numbers: is_primitive(&signature.output),
    };
    line.visit_block(body);
    line.is_one
}

/// The same of a closure's body, the type of whose value is not known.
pub(super) fn is_short(body: &Expr) -> bool {
    let mut line = StraightLine {
        is_one: true,
        computes_numbers: true,
    };
    line.visit_expr(body);
    line.is_one
}

/// Whether the compiler must inline the function, which has no loop. What computes with vectors consists of thousands of such functions of one
/// instruction. With probes, the compiler would need minutes for one function that they are inlined into.
pub(super) fn is_part_of_callers(attributes: &[Attribute], body: &Block) -> bool {
    let is_inlined = attributes.iter().any(|attribute| {
        let path = attribute.path();
        (path.is_ident("inline") || path.is_ident("cfg_attr")) && has_word(attribute, "always")
    });
    is_inlined && !has_loop(body)
}

fn has_loop(body: &Block) -> bool {
    let mut loops = Loops { any: false };
    loops.visit_block(body);
    loops.any
}

struct Loops {
    any: bool,
}

impl<'ast> Visit<'ast> for Loops {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        self.any |= matches!(
            expression,
            Expr::ForLoop(_) | Expr::Loop(_) | Expr::While(_)
        );
        visit::visit_expr(self, expression);
    }
}

struct StraightLine {
    is_one: bool,
    /// Otherwise an operator may be that of a matrix, which is a call.
    computes_numbers: bool,
}

/// Whether a function returns nothing, or a value of a built-in type.
fn is_primitive(output: &ReturnType) -> bool {
    const TYPES: [&str; 16] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize",
    ];
    match output {
        ReturnType::Default => true,
        ReturnType::Type(_, of) => {
            matches!(&**of, Type::Path(of) if TYPES.iter().any(|it| of.path.is_ident(it)))
        }
    }
}

/// Whether the expression has an operator that types can define, and whose result is a value.
fn is_arithmetic(expression: &Expr) -> bool {
    use syn::BinOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Shl, Shr, Sub};
    match expression {
        Expr::Binary(of) => matches!(
            of.op,
            Add(_)
                | BitAnd(_)
                | BitOr(_)
                | BitXor(_)
                | Div(_)
                | Mul(_)
                | Rem(_)
                | Shl(_)
                | Shr(_)
                | Sub(_)
        ),
        Expr::Unary(of) => !matches!(of.op, UnOp::Deref(_)),
        _ => false,
    }
}

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
        self.is_one &= is_plain && (self.computes_numbers || !is_arithmetic(expression));
        if self.is_one {
            visit::visit_expr(self, expression);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        self.is_one &= matches!(statement, Stmt::Local(_) | Stmt::Expr(..));
        if self.is_one {
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
