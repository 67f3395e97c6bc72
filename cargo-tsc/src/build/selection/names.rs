//! The packages that a word names.

use cargo_metadata::Package;
use regex_lite::Regex;

/// The expression for a pattern, in which `*` is any text, `?` any character, and `[…]` one of those in it.
///
/// # Errors
/// If a bracket is not closed.
pub fn pattern(pattern: &str) -> Result<Regex, regex_lite::Error> {
    let mut expression = regex_lite::escape(pattern);
    let parts = [(r"\*", ".*"), (r"\?", "."), (r"\[!", "[^"), (r"\[", "[")];
    for (escaped, own) in parts.into_iter().chain([(r"\]", "]"), (r"\-", "-")]) {
        expression = expression.replace(escaped, own);
    }
    Regex::new(&format!("^{expression}$"))
}

/// Whether cargo takes this value of `--package` for the package: a pattern of names, perhaps with a version, or an address. Cargo itself
/// compares the rest of it.
pub(super) fn is_named(package: &Package, spec: &str) -> bool {
    if spec.contains("://") {
        return address(spec) == address(&package.id.repr);
    }
    let name = spec.split(['@', ':']).next().unwrap_or_default();
    pattern(name).is_ok_and(|names| names.is_match(&package.name))
}

/// The address of a package's folder.
fn address(spec: &str) -> &str {
    let address = spec.split('#').next().unwrap_or_default();
    address.trim_start_matches("path+").trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn patterns_match_whole_names() {
        let matches = |text: &str, name: &str| pattern(text).unwrap().is_match(name);
        assert!(matches("jaq-*", "jaq-core") && !matches("jaq-*", "my-jaq-core"));
        assert!(matches("a?c", "abc") && !matches("a?c", "ac"));
        assert!(!matches("a.c", "abc") && matches("a.c", "a.c"));
        assert!(matches("a[b-d]", "ac") && !matches("a[!b-d]", "ac"));
    }
}
