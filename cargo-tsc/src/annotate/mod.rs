//! Inserts `#[cycles]` into source text and removes it again. All other bytes, and the line numbers, stay as they are.

mod allocators;
mod closures;
mod edition;
mod exempt;
mod functions;
mod insert;
mod modules;
mod probe;
mod splice;
mod strip;
#[cfg(test)]
mod tests;

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
fn parse(source: &str) -> syn::Result<(syn::File, usize)> {
    const BYTE_ORDER_MARK: &str = "\u{feff}";
    let text = source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source);
    let file = syn::parse_file(text)?;
    let shebang = file.shebang.as_ref().map_or(0, String::len);
    Ok((file, source.len() - text.len() + shebang))
}
