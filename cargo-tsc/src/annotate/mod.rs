//! Inserts `#[cycles]` into source text and removes it again. All other bytes, and the line numbers, stay as they are.

mod allocators;
mod closures;
mod edition;
mod exempt;
mod functions;
mod insert;
mod modules;
mod older;
mod probe;
mod splice;
mod strip;
#[cfg(test)]
mod tests;

use std::path::Path;

use proc_macro2::LineColumn;

pub use allocators::words_of_allocator;
pub use edition::{DECLARATION, needs_declaration};
pub use insert::{Annotated, annotate, annotate_each};
pub use modules::{Files, files_for_this_machine, files_of};
pub use probe::{Function, Probe, Where};
pub use strip::{strip, without_plain};

/// The text that is inserted where every call is timed.
pub const ATTRIBUTE: &str = "#[::tsc_runtime::cycles(/* cargo tsc */)] ";

/// The part of the text that distinguishes it from an attribute that somebody wrote by hand, so that [`strip`](fn@strip) leaves those.
/// Formatters keep it.
const MARK: &str = "/* cargo tsc */";

/// Parses a file. Also returns the number of bytes at its beginning (a byte order mark, a `#!` line) that the offsets in the syntax tree
/// do not count.
///
/// # Errors
/// If `source` is not a Rust file, or has a syntax that the parser does not know.
pub fn parse(source: &str) -> syn::Result<(syn::File, usize)> {
    const BYTE_ORDER_MARK: &str = "\u{feff}";
    let text = source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source);
    // Alone, so that it is found in a file that does not parse.
    let first = text.lines().next().filter(|line| line.starts_with("#!"));
    let shebang = first.and_then(|line| syn::parse_file(line).ok()?.shebang);
    let text = &text[shebang.map_or(0, |line| line.len())..];
    Ok((older::parse(text.parse()?)?, source.len() - text.len()))
}

/// What is said of a file that does not parse.
#[must_use]
pub fn left_as_it_is(file: &Path, error: &syn::Error) -> String {
    let LineColumn { line, column } = error.span().start();
    let file = file.display();
    format!("{file}:{line}:{}: left as it is: {error}", column + 1)
}
