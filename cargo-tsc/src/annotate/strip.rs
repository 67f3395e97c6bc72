//! Removes the inserted attributes.

use std::ops::Range;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Meta, MetaList};

use super::splice::splice;
use super::{MARK, parse};

/// Returns the source without inserted attributes, and how many there were. The result of [`annotate`](super::annotate) becomes its input
/// again, byte for byte. If a formatter has moved the attribute to a line of its own, the line is removed, too.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn strip(source: &str) -> syn::Result<(String, usize)> {
    let mut inserted = attributes(source, is_alike)?;
    inserted.retain(|place| source[place.clone()].contains(MARK));
    let edits = inserted.iter().map(|place| {
        let after = &source[place.end..];
        let space = after.len() - after.trim_start().len();
        (place.start..place.end + space, "")
    });
    Ok((splice(source, edits), inserted.len()))
}

/// Returns the source without the attributes that say only that a function is measured: `#[cycles]`, with at most `light` in parentheses,
/// also of blocks. No line moves.
///
/// # Errors
/// If `source` may have one, and is not a Rust file or has a syntax that the parser does not know.
pub fn without_plain(source: &str) -> syn::Result<String> {
    // Most files have none, and parsing takes long.
    if !source.contains("cycles") {
        return Ok(source.to_owned());
    }
    let edits = attributes(source, is_plain)?.into_iter().map(|place| {
        let lines = "\n".repeat(source[place.clone()].matches('\n').count());
        (place, lines)
    });
    Ok(splice(source, edits))
}

/// The places of the attributes for which `is` returns true, in ascending order.
fn attributes(source: &str, is: fn(&Attribute) -> bool) -> syn::Result<Vec<Range<usize>>> {
    let (file, begin) = parse(source)?;
    let mut found = Found {
        is,
        places: Vec::new(),
    };
    found.visit_file(&file);
    let places = found.places.into_iter();
    let mut places: Vec<Range<usize>> = places
        .map(|place| begin + place.start..begin + place.end)
        .collect();
    places.sort_unstable_by_key(|place| place.start);
    Ok(places)
}

struct Found {
    is: fn(&Attribute) -> bool,
    places: Vec<Range<usize>>,
}

impl<'ast> Visit<'ast> for Found {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if (self.is)(attribute) {
            self.places.push(attribute.span().byte_range());
        }
        visit::visit_attribute(self, attribute);
    }
}

/// Whether the attribute is `cycles` or `tsc_runtime::cycles`, and says no more than that.
fn is_plain(attribute: &Attribute) -> bool {
    let segments = attribute.path().segments.iter();
    let path: Vec<String> = segments.map(|segment| segment.ident.to_string()).collect();
    let says_no_more = match &attribute.meta {
        Meta::Path(_) => true,
        Meta::List(list) => says_nothing_else(list),
        Meta::NameValue(_) => false,
    };
    says_no_more && (path == ["cycles"] || path == ["tsc_runtime", "cycles"])
}

/// Whether the parentheses contain at most `light` and a comment.
fn says_nothing_else(list: &MetaList) -> bool {
    let tokens = list.tokens.to_string();
    tokens.is_empty() || tokens == "light"
}

/// Whether the attribute is `::tsc_runtime::cycles` with parentheses that contain at most `light` and a comment.
fn is_alike(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    let path = &list.path;
    let segments = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string());
    says_nothing_else(list)
        && path.leading_colon.is_some()
        && segments.eq(["tsc_runtime", "cycles"])
}
