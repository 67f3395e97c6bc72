//! Names that resemble one that does not exist.

/// At most this many are suggested.
const NAMES: usize = 5;

/// The names that resemble `wanted` most, the nearest first.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.into_iter().collect();
    let likeness = |name: &str| strsim::jaro_winkler(wanted, name);
    names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)).then(a.cmp(b)));
    names.truncate(NAMES);
    names
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_most_similar_name_is_the_first() {
        let names = ["serde", "jaq-core", "jaq-json", "memchr", "regex", "zmij"];
        assert_eq!(nearest("jak-core", names)[..2], ["jaq-core", "jaq-json"]);
        assert_eq!(nearest("x", names).len(), 5);
        assert!(nearest("x", []).is_empty());
    }
}
