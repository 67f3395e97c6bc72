//! Text from elsewhere, such as names in a report that somebody else has written, as it is shown.

use std::io::{self, Write};

pub use tsc_report::__private::escaped;

/// The text with everything escaped that has a meaning in Markdown.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '<' | '|' | '[' | ']' | '*' | '_' | '`' | '\\' | '~' => {
                shown += &format!("&#{};", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Writes one line.
///
/// # Errors
/// If it cannot be written.
pub fn line(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_visible_is_escaped() {
        assert_eq!(
            escaped("<a::B as \"C\\'>::ünï → 1"),
            "<a::B as \"C\\'>::ünï → 1"
        );
        assert_eq!(
            escaped("a\n\r\t\u{1b}[2J\u{7}\u{9b}\u{202e}\u{2066}\u{200f}\u{2028}b"),
            "a\\n\\r\\t\\u{1b}[2J\\u{7}\\u{9b}\\u{202e}\\u{2066}\\u{200f}\\u{2028}b"
        );
    }

    #[test]
    fn markdown_has_no_effect() {
        assert_eq!(
            markdown("_a_|b <T> [x](y) `c` &amp; \\"),
            "&#95;a&#95;&#124;b &#60;T> &#91;x&#93;(y) &#96;c&#96; &#38;amp; &#92;"
        );
    }
}
