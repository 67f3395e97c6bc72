//! Edits of source text.

use std::ops::Range;

/// The text with another one in each of these places, which are in ascending order and do not overlap.
pub(super) fn splice<T: AsRef<str>>(
    text: &str,
    edits: impl IntoIterator<Item = (Range<usize>, T)>,
) -> String {
    let mut spliced = String::with_capacity(text.len());
    let mut end = 0;
    for (place, new) in edits {
        spliced.push_str(&text[end..place.start]);
        spliced.push_str(new.as_ref());
        end = place.end;
    }
    spliced.push_str(&text[end..]);
    spliced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_text_before() {
        let edits = [(0..0, "<"), (1..2, ""), (2..4, "BCD"), (5..5, ">")];
        assert_eq!(splice("abcde", edits), "<aBCDe>");
        assert_eq!(splice("abcde", [(0..0, ""); 0]), "abcde");
    }
}
