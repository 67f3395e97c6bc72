//! Inserts the attributes.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use proc_macro2::{LineColumn, Span};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, ImplItemFn, Item, ItemFn, ItemImpl, ItemMod, Signature, TraitItemFn, Visibility,
};

use super::splice::splice;
use super::{allocators, exempt, parse};

/// Which items get the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// Every function that is not `const`, including nested ones.
    Functions,
    /// Like `Functions`, but without tests, and without functions that take less time than a probe: a straight line without a call, a loop
    /// or a macro.
    Worthwhile,
    /// Every `impl`, `trait` and inline `mod` at the top level of a file, except a `mod` that rustc refuses behind an attribute.
    Blocks,
}

/// The kind of probe that a function gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Times every call.
    Timed,
    /// Counts every call, and tells its time from ticks of a clock.
    Light,
}

impl Probe {
    /// The text that is inserted.
    #[must_use]
    pub const fn attribute(self) -> &'static str {
        match self {
            Self::Timed => super::ATTRIBUTE,
            Self::Light => "#[::tsc_runtime::cycles(light /* cargo tsc */)] ",
        }
    }
}

/// The place of a function, as in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The identifier.
    pub name: String,
    /// The line of the identifier, from 1.
    pub line: u32,
    /// The lines from its first attribute to its end.
    pub lines: RangeInclusive<u32>,
    /// Whether it has an attribute whose arguments permit both kinds of probe. It keeps its row: without a probe, it gets a light one.
    pub has_attribute: bool,
}

/// Annotated source text.
#[derive(Clone, Debug)]
pub struct Annotated {
    /// The source with the attributes in it.
    pub text: String,
    /// How many attributes were added.
    pub attributes: usize,
    /// How many of these are light.
    pub light: usize,
    /// Functions that are too short for a probe.
    pub too_short: usize,
}

/// Annotates `source` in the places that `place` selects, except for functions for which `leave_out` returns true. Every call is timed.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn annotate(
    source: &str,
    place: Where,
    leave_out: &dyn Fn(&Function) -> bool,
) -> syn::Result<Annotated> {
    annotate_each(source, place, &|function| {
        (function.has_attribute || !leave_out(function)).then_some(Probe::Timed)
    })
}

/// Like [`annotate`], with a probe for each function. Blocks are timed.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn annotate_each(
    source: &str,
    place: Where,
    probe: &dyn Fn(&Function) -> Option<Probe>,
) -> syn::Result<Annotated> {
    let (file, begin) = parse(source)?;
    let mut functions = Functions {
        found: Vec::new(),
        too_short: 0,
        of_allocators: match place {
            Where::Worthwhile if source.contains("GlobalAlloc") => allocators::callees(&file),
            _ => BTreeSet::new(),
        },
        place,
        probe,
    };
    match place {
        Where::Blocks => {
            let blocks = file.items.iter().filter_map(block);
            functions.found = blocks.map(Inserted::timed).collect();
        }
        Where::Functions | Where::Worthwhile => functions.visit_file(&file),
    }
    functions.found.sort_unstable_by_key(|inserted| inserted.at);
    let edits = functions.found.iter().map(|inserted| {
        let at = begin + inserted.at;
        (at..at, inserted.text)
    });
    let text = splice(source, edits);
    let is_light = |inserted: &&Inserted| inserted.probe == Probe::Light;
    Ok(Annotated {
        text,
        attributes: functions.found.len(),
        light: functions.found.iter().filter(is_light).count(),
        too_short: functions.too_short,
    })
}

/// What makes a function measured.
struct Inserted {
    at: usize,
    text: &'static str,
    probe: Probe,
}

impl Inserted {
    fn timed(at: usize) -> Self {
        Self::before(at, Probe::Timed)
    }

    /// An attribute before the first token after a function's other attributes.
    fn before(at: usize, probe: Probe) -> Self {
        let text = probe.attribute();
        Self { at, text, probe }
    }
}

struct Functions<'a> {
    found: Vec<Inserted>,
    too_short: usize,
    /// The names of functions that the file's allocators call, which get no probe.
    of_allocators: BTreeSet<String>,
    place: Where,
    probe: &'a dyn Fn(&Function) -> Option<Probe>,
}

impl Functions<'_> {
    fn add(&mut self, first: Span, attributes: &[Attribute], sig: &Signature, body: &syn::Block) {
        let arguments = exempt::arguments(attributes).filter(|_| self.place == Where::Worthwhile);
        if sig.constness.is_some() || arguments.is_none() && exempt::is_annotated(attributes) {
            return;
        }
        let function = Function {
            name: sig.ident.to_string(),
            line: line(sig.ident.span().start()),
            lines: line(attributes.first().map_or(first, Spanned::span).start())
                ..=line(body.span().end()),
            has_attribute: arguments.is_some(),
        };
        if let Some(arguments) = arguments {
            if (self.probe)(&function) != Some(Probe::Timed) {
                self.found.push(Inserted {
                    at: arguments.byte_range().end,
                    text: "light, ",
                    probe: Probe::Light,
                });
            }
            return;
        }
        let Some(probe) = (self.probe)(&function) else {
            return;
        };
        if self.place == Where::Worthwhile {
            if exempt::is_special(attributes) || self.of_allocators.contains(&function.name) {
                return;
            }
            if sig.asyncness.is_none() && exempt::is_straight_line(sig, body) {
                self.too_short += 1;
                return;
            }
        }
        let at = first.byte_range().start;
        self.found.push(Inserted::before(at, probe));
    }

    fn passes_by(&self, attributes: &[Attribute]) -> bool {
        self.place == Where::Worthwhile && exempt::is_for_tests(attributes)
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !self.passes_by(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        let exempt = self.passes_by(&block.attrs)
            || (self.place == Where::Worthwhile && allocators::is_allocator(block));
        if !exempt {
            visit::visit_item_impl(self, block);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if self.passes_by(&function.attrs) {
            return;
        }
        let first = start(&function.vis, &function.sig);
        self.add(first, &function.attrs, &function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let first = match (&function.vis, &function.modifiers.defaultness) {
            (Visibility::Inherited, Some(default)) => default.span(),
            (vis, _) => start(vis, &function.sig),
        };
        self.add(first, &function.attrs, &function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(function.sig.span(), &function.attrs, &function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

fn line(at: LineColumn) -> u32 {
    at.line as u32
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
        Item::Mod(_) => !is_fixed(item),
        _ => false,
    };
    holds_functions.then(|| item.span().byte_range().start)
}

/// Whether the item is or holds what no macro may make: a module in a file of its own, or a macro that the crate exports.
fn is_fixed(item: &Item) -> bool {
    let is_export = |attribute: &Attribute| attribute.path().is_ident("macro_export");
    match item {
        Item::Mod(module) => match &module.content {
            Some((_, items)) => items.iter().any(is_fixed),
            None => true,
        },
        Item::Macro(definition) => definition.attrs.iter().any(is_export),
        _ => false,
    }
}
