//! Replaces the placeholders in `TSC_REPORT_FILE`: `%p`, `%h`, `%t` and `%%`.

use std::ffi::{OsStr, OsString};

use crate::live::collect::{compact, host, process_started};

/// The path for a pattern in this process. Unknown placeholders stay as they are.
pub(in crate::live) fn expand(pattern: &OsStr) -> OsString {
    let Some(pattern) = pattern.to_str() else {
        return pattern.to_owned();
    };
    expand_with(pattern, |letter| match letter {
        'p' => Some(crate::process::id().to_string()),
        'h' => Some(host().replace(['/', '\\'], "_")),
        't' => Some(compact(process_started())),
        '%' => Some("%".to_owned()),
        _ => None,
    })
    .into()
}

fn expand_with(pattern: &str, meaning: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let rest = characters.clone();
        let meant = (character == '%')
            .then(|| meaning(characters.next()?))
            .flatten();
        match meant {
            Some(meant) => out += &meant,
            None => {
                out.push(character);
                characters = rest;
            }
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
