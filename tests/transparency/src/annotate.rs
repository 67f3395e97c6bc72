//! Puts `#[cycles]` into source text, leaving all else of it alone.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{ImplItemFn, Item, ItemFn, Signature, TraitItemFn, Visibility};

/// Where the attribute goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// On every function that is not `const`, nested ones too.
    Functions,
    /// On every `impl`, `trait` and inline `mod` at the top level of a file.
    Blocks,
}

const ATTRIBUTE: &str = "#[::tsc_runtime::cycles] ";

/// Annotated text, and how many attributes were added.
pub fn annotate(source: &str, place: Where) -> syn::Result<(String, usize)> {
    let file = syn::parse_file(source)?;
    let mut offsets = match place {
        Where::Functions => {
            let mut functions = Functions(Vec::new());
            functions.visit_file(&file);
            functions.0
        }
        Where::Blocks => file.items.iter().filter_map(block).collect(),
    };
    offsets.sort_unstable();
    let mut text = source.to_owned();
    for &offset in offsets.iter().rev() {
        text.insert_str(offset, ATTRIBUTE);
    }
    Ok((text, offsets.len()))
}

/// Offsets of the first token after the attributes of each function.
struct Functions(Vec<usize>);

impl Functions {
    fn add(&mut self, before_fn: Span, sig: &Signature) {
        if sig.constness.is_none() {
            self.0.push(before_fn.byte_range().start);
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(start(&function.vis, &function.sig), &function.sig);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(start(&function.vis, &function.sig), &function.sig);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if function.default.is_some() {
            self.add(function.sig.span(), &function.sig);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

fn start(vis: &Visibility, sig: &Signature) -> Span {
    match vis {
        Visibility::Inherited => sig.span(),
        vis => vis.span(),
    }
}

/// The offset of a block's first token, before its attributes.
fn block(item: &Item) -> Option<usize> {
    let holds_functions = match item {
        Item::Impl(_) | Item::Trait(_) => true,
        Item::Mod(module) => module.content.is_some(),
        _ => false,
    };
    holds_functions.then(|| item.span().byte_range().start)
}
