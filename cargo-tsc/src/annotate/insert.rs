//! Inserts the attributes.

use syn::spanned::Spanned as _;
use syn::visit::Visit as _;
use syn::{Attribute, Item};

use super::functions::Functions;
use super::probe::{Function, Inserted, Probe, Where};
use super::splice::splice;
use super::{allocators, exempt, parse};

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

/// Annotates `source` in the places that `place` selects, with a probe for each function, or none. A function that has an attribute keeps it, and
/// blocks are timed.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn annotate(
    source: &str,
    place: Where,
    probe: &dyn Fn(&Function) -> Option<Probe>,
) -> syn::Result<Annotated> {
    insert(source, place, false, &|function| {
        if function.has_attribute {
            return Some(Probe::Timed);
        }
        probe(function)
    })
}

/// Like [`annotate`], with a probe for each function and closure, or none, whatever an attribute on the block around it says. Blocks are timed.
/// The text is for a copy: [`strip`](super::strip) leaves the probes of closures.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn annotate_each(
    source: &str,
    place: Where,
    probe: &dyn Fn(&Function) -> Option<Probe>,
) -> syn::Result<Annotated> {
    insert(source, place, true, probe)
}

fn insert(
    source: &str,
    place: Where,
    in_copy: bool,
    probe: &dyn Fn(&Function) -> Option<Probe>,
) -> syn::Result<Annotated> {
    let (file, begin) = parse(source)?;
    let mut functions = Functions::new(place, in_copy, probe);
    match place {
        Where::Blocks => {
            let blocks = file.items.iter().filter_map(block);
            functions.found = blocks
                .map(|at| Inserted::before(at, Probe::Timed))
                .collect();
        }
        Where::Functions => functions.visit_file(&file),
        Where::Worthwhile => {
            if source.contains("GlobalAlloc") {
                functions.of_allocators = allocators::callees(&file);
            }
            functions.visit_file(&file);
        }
    }
    // In one place, an opening brace stays before what is in it, and a closing one after it.
    functions.found.sort_by_key(|inserted| inserted.at);
    let edits = functions.found.iter().map(|inserted| {
        let at = begin + inserted.at;
        (at..at, &inserted.text)
    });
    let text = splice(source, edits);
    let probes = || functions.found.iter().filter_map(|inserted| inserted.probe);
    Ok(Annotated {
        text,
        attributes: probes().count(),
        light: probes().filter(|probe| *probe == Probe::Light).count(),
        too_short: functions.too_short,
    })
}

/// The offset of a block's first token, before its attributes.
fn block(item: &Item) -> Option<usize> {
    let attributes = match item {
        Item::Impl(block) => &block.attrs,
        Item::Trait(block) => &block.attrs,
        Item::Mod(block) if !is_fixed(item) => &block.attrs,
        _ => return None,
    };
    (!exempt::is_skipped(attributes)).then(|| item.span().byte_range().start)
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
