//! Paths without the folders that only this machine has.

/// A command line's argument, in which a path may be behind a `=` or an option of one letter. Only an absolute path is shortened.
pub(super) fn argument(text: &str, shorten: fn(&str) -> &str) -> String {
    if let Some((option, path)) = text.split_at_checked(2)
        && option.starts_with('-')
        && is_absolute(path)
        && path[1..].contains(SEPARATORS)
    {
        return format!("{option}{}", shorten(path));
    }
    match text.split_once('=') {
        Some((name, path)) if is_absolute(path) => format!("{name}={}", shorten(path)),
        _ if is_absolute(text) => shorten(text).to_owned(),
        _ => text.to_owned(),
    }
}

/// The last part of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit(SEPARATORS).next().unwrap_or(path)
}

/// The path from its package's folder on, which contains the last `src`.
pub(super) fn in_package(path: &str) -> &str {
    let sources = SEPARATORS.map(|separator| path.rfind(&format!("{separator}src{separator}")));
    match sources.into_iter().flatten().max() {
        Some(sources) => {
            let package = path[..sources].rfind(SEPARATORS);
            package.map_or(path, |before| &path[before + 1..])
        }
        None => last(path),
    }
}

const SEPARATORS: [char; 2] = ['/', '\\'];

/// Also of paths of other systems, where the report may come from.
fn is_absolute(path: &str) -> bool {
    let mut characters = path.chars();
    match (characters.next(), characters.next()) {
        (Some('/' | '\\'), _) => true,
        (Some(drive), Some(':')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths_are_shortened() {
        let shortened = |text| argument(text, last);
        assert_eq!(shortened("/home/me/words.txt"), "words.txt");
        assert_eq!(shortened("C:\\Users\\me\\words.txt"), "words.txt");
        assert_eq!(shortened("--in=/home/me/words.txt"), "--in=words.txt");
        assert_eq!(shortened("-L/home/me/lib"), "-Llib");
        for kept in ["texts/words.txt", "--ratio=1/2", "-j/2", "-ä", "--", ""] {
            assert_eq!(shortened(kept), kept);
        }
    }

    #[test]
    fn a_source_file_keeps_its_package() {
        let shortened = |text| argument(text, in_package);
        assert_eq!(
            shortened("/x/src/index-1/json-1.0/src/de.rs"),
            "json-1.0/src/de.rs"
        );
        assert_eq!(shortened("C:\\x\\json\\src\\de.rs"), "json\\src\\de.rs");
        assert_eq!(shortened("/x/build/out/made.rs"), "made.rs");
        assert_eq!(shortened("src/main.rs"), "src/main.rs");
    }
}
