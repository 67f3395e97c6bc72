//! Puts `#[cycles]` into source text and takes it out again, leaving every other byte alone. No line moves.

mod exempt;
mod insert;
mod modules;
mod strip;
#[cfg(test)]
mod tests;

pub use insert::{Annotated, Function, Where, annotate};
pub use modules::files_of;
pub use strip::strip;

/// What is inserted. The empty parentheses set it apart from an attribute that somebody wrote by hand, so that [`strip`] leaves those.
pub const ATTRIBUTE: &str = "#[::tsc_runtime::cycles()] ";

/// Parses a file, and says how many bytes at its beginning (a byte order mark, a `#!` line) are not in the syntax tree's offsets.
fn parse(source: &str) -> syn::Result<(syn::File, usize)> {
    const BYTE_ORDER_MARK: &str = "\u{feff}";
    let text = source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source);
    let file = syn::parse_file(text)?;
    let shebang = file.shebang.as_ref().map_or(0, String::len);
    Ok((file, source.len() - text.len() + shebang))
}
