//! Replaces the placeholders in `TSC_REPORT_FILE`: `%p`, `%h`, `%t` and `%%`.

use std::ffi::{OsStr, OsString};

use super::process_began;
use crate::live::collect::process::host;
use crate::live::collect::timestamp::compact;

/// The path for a pattern in this process. Unknown placeholders stay as they are.
pub(in crate::live) fn expand(pattern: &OsStr) -> OsString {
    let Some(pattern) = pattern.to_str() else {
        return pattern.to_owned();
    };
    expand_with(pattern, |letter| match letter {
        'p' => Some(crate::process::id().to_string()),
        'h' => Some(host().replace(['/', '\\'], "_")),
        't' => Some(compact(process_began())),
        '%' => Some("%".to_owned()),
        _ => None,
    })
    .into()
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
