//! What cannot be linked into a program, and so is compiled here once more: the files of `tsc-attr`, a procedural macro, and those of
//! `cargo-tsc`, a program, that judge and export reports. And the properties that more than one target checks.

#![allow(dead_code, unused_imports, reason = "of the files of others")]

extern crate proc_macro;

#[path = "../../tsc-attr/src/args.rs"]
mod args;
#[path = "../../tsc-attr/src/asynchronous/mod.rs"]
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
#[path = "../../tsc-attr/src/inlining.rs"]
mod inlining;
#[path = "../../tsc-attr/src/items.rs"]
mod items;
#[path = "../../tsc-attr/src/nested_attr.rs"]
mod nested_attr;
#[path = "../../tsc-attr/src/precedence.rs"]
mod precedence;
#[path = "../../tsc-attr/src/recording.rs"]
mod recording;
#[path = "../../tsc-attr/src/refuse.rs"]
mod refuse;
#[path = "../../tsc-attr/src/return_type.rs"]
mod return_type;
#[path = "../../tsc-attr/src/row_name.rs"]
mod row_name;
#[path = "../../tsc-attr/src/tokens.rs"]
mod tokens;

#[path = "../../cargo-tsc/src/build/mod.rs"]
mod build;
#[path = "../../cargo-tsc/src/command_line/mod.rs"]
mod command_line;
#[path = "../../cargo-tsc/src/diff/mod.rs"]
mod diff;
#[path = "../../cargo-tsc/src/escape.rs"]
mod escape;
#[path = "../../cargo-tsc/src/execute.rs"]
mod execute;
#[path = "../../cargo-tsc/src/export/mod.rs"]
mod export;
#[path = "../../cargo-tsc/src/git.rs"]
mod git;
#[path = "../../cargo-tsc/src/input.rs"]
mod input;
#[path = "../../cargo-tsc/src/interrupt.rs"]
mod interrupt;
#[path = "../../cargo-tsc/src/lock.rs"]
mod lock;
#[path = "../../cargo-tsc/src/nearest.rs"]
mod nearest;
#[path = "../../cargo-tsc/src/output.rs"]
mod output;
#[path = "../../cargo-tsc/src/progress.rs"]
mod progress;
#[path = "../../cargo-tsc/src/rows.rs"]
mod rows;
#[path = "../../cargo-tsc/src/session/mod.rs"]
mod session;
#[path = "../../cargo-tsc/src/share.rs"]
mod share;
#[path = "../../cargo-tsc/src/sources.rs"]
mod sources;
#[path = "../../cargo-tsc/src/stacks.rs"]
mod stacks;
#[path = "../../cargo-tsc/src/table.rs"]
mod table;

pub mod reports;

use cargo_tsc::{annotate, statistics};
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

/// What the attribute says of `fence = VALUE`.
///
/// # Errors
///
/// The attribute's own, if it refuses the value.
pub fn check_fence(value: TokenStream) -> Result<(), String> {
    fence::check(value).map_err(|error| error.to_string())
}

fn depth(tokens: &TokenStream) -> usize {
    let of_tree = |tree| match tree {
        TokenTree::Group(group) => 1 + depth(&group.stream()),
        _ => 0,
    };
    tokens.clone().into_iter().map(of_tree).max().unwrap_or(0)
}
