//! What a program's own memory allocator calls. A probe's first call allocates, and an allocator that holds a lock meanwhile would wait for
//! itself.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    ExprMethodCall, ExprPath, File, ImplItemFn, ItemFn, ItemImpl, ItemStatic, ItemUse, Macro,
    TraitItemFn,
};

use super::exempt::mention;

/// The names of the functions in a file that its allocators mention, and that these mention in turn. Functions of the same name are not told
/// apart. The methods of all other traits in the file are among them, because calls of `drop`, `deref` or `next` need no name.
pub(super) fn callees(file: &File) -> BTreeSet<String> {
    let mut calls = Calls::default();
    calls.visit_file(file);
    let mut reached = calls.of_allocators;
    if !calls.has_allocator {
        return reached;
    }
    reached.append(&mut calls.of_traits);
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

/// The words of the `#[global_allocator]` in a file, and the first words of the paths that import them: among these are the crates that the
/// program's allocator is from.
#[must_use]
pub fn words_of_allocator(file: &File) -> BTreeSet<String> {
    let mut chosen = Chosen::default();
    chosen.visit_file(file);
    let mut words = chosen.words;
    for imported in chosen.imported {
        if mention(imported.clone(), &|word| words.contains(&word.to_string())) {
            words.extend(imported.into_iter().find_map(|tree| match tree {
                TokenTree::Ident(ident) => Some(ident.to_string()),
                _ => None,
            }));
        }
    }
    words
}

/// Calls `note` with each word in the tokens.
fn each_word(tokens: TokenStream, note: &mut dyn FnMut(String)) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => each_word(group.stream(), note),
            TokenTree::Ident(ident) => note(ident.to_string()),
            _ => {}
        }
    }
}

/// What a file says of the program's allocator.
#[derive(Default)]
struct Chosen {
    /// The words in the types and values of the statics.
    words: BTreeSet<String>,
    /// What is imported.
    imported: Vec<TokenStream>,
}

impl<'ast> Visit<'ast> for Chosen {
    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        let is_one = |tokens| mention(tokens, &|word| word == "global_allocator");
        if item.attrs.iter().any(|it| is_one(it.to_token_stream())) {
            let (of, value) = (&item.ty, &item.expr);
            each_word(quote::quote!(#of #value), &mut |word| {
                self.words.insert(word);
            });
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.imported.push(item.tree.to_token_stream());
    }
}

/// The names that functions mention.
#[derive(Default)]
struct Calls {
    has_allocator: bool,
    of_allocators: BTreeSet<String>,
    of_functions: BTreeMap<String, BTreeSet<String>>,
    /// The methods in implementations of traits.
    of_traits: BTreeSet<String>,
    /// The function around, and whether an allocator or another trait's implementation is.
    around: Option<String>,
    in_allocator: bool,
    in_trait: bool,
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
        let outer = (self.in_allocator, self.in_trait);
        self.in_allocator |= is_allocator(block);
        self.has_allocator |= self.in_allocator;
        self.in_trait = block.trait_.is_some();
        visit::visit_item_impl(self, block);
        (self.in_allocator, self.in_trait) = outer;
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.inside(function.sig.ident.to_string(), |calls| {
            visit::visit_item_fn(calls, function);
        });
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let name = function.sig.ident.to_string();
        if self.in_trait {
            self.of_traits.insert(name.clone());
        }
        self.inside(name, |calls| visit::visit_impl_item_fn(calls, function));
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.inside(function.sig.ident.to_string(), |calls| {
            visit::visit_trait_item_fn(calls, function);
        });
    }

    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        if let Some(last) = path.path.segments.last() {
            self.note(last.ident.to_string());
        }
        visit::visit_expr_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.note(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        each_word(called.tokens.clone(), &mut |word| self.note(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::parse;

    #[test]
    fn allocator_is_found_by_its_own_path_and_by_its_imports() {
        let words = |source: &str| words_of_allocator(&parse(source).unwrap().0);
        let chosen = "use of::{Outer, Span as S};\nuse other::{Map, Set};\n#[cfg_attr(unix, global_allocator)]\n\
            static A: Outer<lock::Raw> = Outer::new(unsafe { from(S) });\nstatic B: Map = Map::new();\n";
        let found = words(chosen);
        let has = |word: &str| found.contains(word);
        assert!(has("of") && has("lock") && !has("other"), "{found:?}");
        assert!(words("use of::Outer;\nstatic A: Outer = Outer::new();\n").is_empty());
    }
}
