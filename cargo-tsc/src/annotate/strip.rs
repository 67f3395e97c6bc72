//! Removes the inserted attributes.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Meta, MetaList};

use super::{MARK, parse};

/// Returns the source without inserted attributes, and how many there were. The result of [`annotate`](super::annotate) becomes its input
/// again, byte for byte. If a formatter has moved the attribute to a line of its own, the line is removed, too.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn strip(source: &str) -> syn::Result<(String, usize)> {
    let (file, begin) = parse(source)?;
    let mut inserted = Inserted(Vec::new());
    inserted.visit_file(&file);
    inserted
        .0
        .retain(|range| source[begin + range.start..begin + range.end].contains(MARK));
    let mut text = source.to_owned();
    inserted.0.sort_unstable_by_key(|range| range.start);
    for range in inserted.0.iter().rev() {
        let after = begin + range.end;
        let space = text[after..].len() - text[after..].trim_start().len();
        text.replace_range(begin + range.start..after + space, "");
    }
    Ok((text, inserted.0.len()))
}

struct Inserted(Vec<std::ops::Range<usize>>);

impl<'ast> Visit<'ast> for Inserted {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if is_alike(attribute) {
            self.0.push(attribute.span().byte_range());
        }
        visit::visit_attribute(self, attribute);
    }
}

/// Returns the source without the attributes that say only that a function is measured: `#[cycles]`, with at most `light` in parentheses,
/// also of blocks. No line moves.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn without_plain(source: &str) -> syn::Result<String> {
    let (file, begin) = parse(source)?;
    let mut plain = Plain(Vec::new());
    plain.visit_file(&file);
    let mut text = source.to_owned();
    plain.0.sort_unstable_by_key(|range| range.start);
    for range in plain.0.iter().rev() {
        let attribute = begin + range.start..begin + range.end;
        let lines = "\n".repeat(source[attribute.clone()].matches('\n').count());
        text.replace_range(attribute, &lines);
    }
    Ok(text)
}

struct Plain(Vec<std::ops::Range<usize>>);

impl<'ast> Visit<'ast> for Plain {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let segments = attribute.path().segments.iter();
        let path: Vec<String> = segments.map(|segment| segment.ident.to_string()).collect();
        let is_cycles = path == ["cycles"] || path == ["tsc_runtime", "cycles"];
        let is_plain = match &attribute.meta {
            Meta::Path(_) => true,
            Meta::List(list) => says_nothing_else(list),
            Meta::NameValue(_) => false,
        };
        if is_cycles && is_plain {
            self.0.push(attribute.span().byte_range());
        }
        visit::visit_attribute(self, attribute);
    }
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
