//! What a program's own memory allocator calls. A probe's first call allocates, and an allocator that holds a lock meanwhile would wait for
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, File, ImplItemFn, ItemFn, ItemImpl};

/// The names of the functions in a file that its allocators call, and that these call in turn. Functions of the same name are not told apart.
pub(super) fn callees(file: &File) -> BTreeSet<String> {
    let mut calls = Calls::default();
    calls.visit_file(file);
    let mut reached = calls.of_allocators;
    let mut left: Vec<String> = reached.iter().cloned().collect();
    while let Some(name) = left.pop() {
        for callee in calls.of_functions.get(&name).into_iter().flatten() {
            if reached.insert(callee.clone()) {
                left.push(callee.clone());
            }
        }
    }
    reached
}

/// Whether the block implements a memory allocator, which the recording itself may need.
pub(super) fn is_allocator(block: &ItemImpl) -> bool {
    let of = block
        .trait_
        .as_ref()
        .and_then(|(path_of_trait, ..)| path_of_trait.segments.last());
    of.is_some_and(|last| last.ident == "GlobalAlloc")
}

/// The names that functions call.
#[derive(Default)]
struct Calls {
    of_allocators: BTreeSet<String>,
    of_functions: BTreeMap<String, BTreeSet<String>>,
    /// The function around, and whether an allocator is.
    around: Option<String>,
    in_allocator: bool,
}

impl Calls {
    fn note(&mut self, callee: String) {
        if self.in_allocator {
            self.of_allocators.insert(callee);
        } else if let Some(around) = &self.around {
            let calls = self.of_functions.entry(around.clone()).or_default();
            calls.insert(callee);
        }
    }

    fn inside(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        let outer = self.around.replace(name);
        visit(self);
        self.around = outer;
    }
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        let outer = self.in_allocator;
        self.in_allocator |= is_allocator(block);
        visit::visit_item_impl(self, block);
        self.in_allocator = outer;
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.inside(function.sig.ident.to_string(), |calls| {
            visit::visit_item_fn(calls, function);
        });
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.inside(function.sig.ident.to_string(), |calls| {
            visit::visit_impl_item_fn(calls, function);
        });
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(callee) = &*call.func
            && let Some(last) = callee.path.segments.last()
        {
            self.note(last.ident.to_string());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.note(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }
}
