//! The 2015 edition, in which a path that begins with `::`, as that of the attribute, begins at the root of the crate itself.

use std::path::Path;

use cargo_metadata::{Edition, Package};
use syn::Item;

use super::parse;

/// What the root of a crate must declare in this edition.
pub const DECLARATION: &str = "extern crate tsc_runtime;";

/// Whether the source is that of a crate's root in a package of this edition, and lacks [`DECLARATION`].
#[must_use]
pub fn needs_declaration(package: &Package, file: &Path, source: &str) -> bool {
    let mut targets = package.targets.iter();
    package.edition == Edition::E2015
        && targets.any(|target| target.src_path == *file)
        && !declares_runtime(source)
}

/// Whether the attribute's path can be resolved from this root of a crate.
fn declares_runtime(source: &str) -> bool {
    let is_declaration = |item: &Item| match item {
        Item::ExternCrate(item) => item.ident == "tsc_runtime" && item.rename.is_none(),
        _ => false,
    };
    parse(source).is_ok_and(|(file, _)| file.items.iter().any(is_declaration))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declaration_at_the_root_under_its_own_name_counts() {
        assert!(declares_runtime(
            "\u{feff}#[macro_use]\nextern crate tsc_runtime;\nfn main() {}\n"
        ));
        for source in [
            "fn main() {}\n",
            "extern crate tsc_runtime as tsc;\n",
            "extern crate other as tsc_runtime;\n",
            "mod m { extern crate tsc_runtime; }\n",
        ] {
            assert!(!declares_runtime(source), "{source}");
        }
    }
}
