//! `#[cycles]` outside of a compiler: the files of tsc-attr, and the property that both fuzz targets check.
//!
//! A procedural macro's crate cannot be linked into a program, so its files are compiled here once more.

extern crate proc_macro;

#[path = "../../tsc-attr/src/args.rs"]
mod args;
#[path = "../../tsc-attr/src/asynchronous.rs"]
mod asynchronous;
#[path = "../../tsc-attr/src/block.rs"]
mod block;
#[path = "../../tsc-attr/src/body.rs"]
mod body;
#[path = "../../tsc-attr/src/callsite.rs"]
mod callsite;
#[path = "../../tsc-attr/src/expand.rs"]
mod expand;
#[path = "../../tsc-attr/src/fence.rs"]
mod fence;
#[path = "../../tsc-attr/src/function.rs"]
mod function;
#[path = "../../tsc-attr/src/gate.rs"]
mod gate;
#[path = "../../tsc-attr/src/items.rs"]
mod items;
#[path = "../../tsc-attr/src/nested_attr.rs"]
mod nested_attr;
#[path = "../../tsc-attr/src/params.rs"]
mod params;
#[path = "../../tsc-attr/src/refuse.rs"]
mod refuse;
#[path = "../../tsc-attr/src/row_name.rs"]
mod row_name;
#[path = "../../tsc-attr/src/tokens.rs"]
mod tokens;

use proc_macro2::{TokenStream, TokenTree};

/// Deeper nesting overflows the stack of the parser, here as in rustc, which stops before it comes to the macro.
const DEEPEST: usize = 40;

/// Checks that an attribute with these arguments on this item gives an error or Rust that parses, and does not panic.
///
/// # Panics
///
/// Panics if the item parses and its expansion does not.
pub fn check(args: TokenStream, item: TokenStream) {
    if depth(&args).max(depth(&item)) > DEEPEST {
        return;
    }
    let Ok(expanded) = gate::expand(args.clone(), item.clone()) else {
        return;
    };
    let parses = |tokens: &TokenStream| syn::parse2::<syn::File>(tokens.clone());
    if let (Ok(_), Err(error)) = (parses(&item), parses(&expanded)) {
        panic!("#[cycles({args})] {item}\nbecame what does not parse ({error}):\n{expanded}");
    }
}

fn depth(tokens: &TokenStream) -> usize {
    let of_tree = |tree| match tree {
        TokenTree::Group(group) => 1 + depth(&group.stream()),
        _ => 0,
    };
    tokens.clone().into_iter().map(of_tree).max().unwrap_or(0)
}
