//! Replaces the placeholders in `TSC_REPORT_FILE`: `%p`, `%h`, `%t` and `%%`.

use std::ffi::{OsStr, OsString};
use std::iter;

use super::process_began;
use crate::live::collect::process::host;
use crate::live::collect::timestamp::compact;

/// The path for a pattern in this process. Unknown placeholders stay as they are.
pub(in crate::live) fn expand(pattern: &OsStr) -> OsString {
    let meaning = |letter| match letter {
        'p' => Some(crate::process::id().to_string()),
        'h' => Some(host().replace(['/', '\\'], "_")),
        't' => Some(compact(process_began())),
        '%' => Some("%".to_owned()),
        _ => None,
    };
    expand_all(pattern, meaning)
}

/// The letters after each `%` that begins a placeholder; `None` at the end of the path.
fn letters(pattern: &OsStr) -> impl Iterator<Item = Option<u8>> {
    let mut rest = pattern.as_encoded_bytes().iter().copied();
    iter::from_fn(move || {
        rest.find(|&byte| byte == b'%')?;
        Some(rest.next())
    })
}

/// Whether this placeholder is in the pattern.
pub(super) fn has(pattern: &OsStr, placeholder: u8) -> bool {
    letters(pattern).any(|letter| letter == Some(placeholder))
}

/// Whether an unknown placeholder is in the pattern.
pub(super) fn has_unknown(pattern: &OsStr) -> bool {
    letters(pattern).any(|letter| !letter.is_some_and(|letter| b"pht%".contains(&letter)))
}

/// Paths are bytes here, which need not be UTF-8.
#[cfg(unix)]
fn expand_all(pattern: &OsStr, meaning: impl Fn(char) -> Option<String>) -> OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut out = Vec::new();
    for chunk in pattern.as_bytes().utf8_chunks() {
        out.extend(expand_with(chunk.valid(), &meaning).into_bytes());
        out.extend(chunk.invalid());
    }
    OsString::from_vec(out)
}

/// A path that is not Unicode stays as it is.
#[cfg(not(unix))]
fn expand_all(pattern: &OsStr, meaning: impl Fn(char) -> Option<String>) -> OsString {
    let text = pattern.to_str();
    text.map_or(pattern.to_owned(), |text| expand_with(text, meaning).into())
}

fn expand_with(pattern: &str, meaning: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::new();
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let letter = characters.peek().filter(|_| character == '%');
        if let Some(meant) = letter.and_then(|letter| meaning(*letter)) {
            out += &meant;
            characters.next();
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn patterns_in_paths_that_are_not_utf_8_are_replaced() {
        use std::os::unix::ffi::OsStrExt as _;
        let expand = |pattern| {
            let meaning = |letter| (letter == 'p').then(|| "12".to_owned());
            expand_all(OsStr::from_bytes(pattern), meaning)
        };
        let folder = expand(b"/we\xffird/%p-%x\xfe%p%");
        assert_eq!(folder.as_bytes(), b"/we\xffird/12-%x\xfe12%");
    }

    #[test]
    fn unknown_placeholders_are_noticed() {
        let known = ["run.json", "%h/%p-%t.json", "%%q", "100%%"];
        let unknown = ["%q", "%p%q", "%%%q", "100%", "%é"];
        assert_eq!(known.map(|of| has_unknown(of.as_ref())), [false; 4]);
        assert_eq!(unknown.map(|of| has_unknown(of.as_ref())), [true; 5]);
    }

    #[test]
    fn patterns_are_replaced_and_the_rest_stays() {
        let expand = |pattern| {
            expand_with(pattern, |letter| match letter {
                'p' => Some("12".to_owned()),
                '%' => Some("%".to_owned()),
                _ => None,
            })
        };
        assert_eq!(
            ["a-%p.json", "%p%p", "100%", "%%p", "%x%p", "%"].map(expand),
            ["a-12.json", "1212", "100%", "%p", "%x12", "%"]
        );
    }
}
