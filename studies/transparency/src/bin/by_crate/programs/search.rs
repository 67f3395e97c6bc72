//! Searches a text, compares its versions, and counts its words.
// regex = "*"
// similar = "*"
// textwrap = "*"
// unicode-segmentation = "*"

use regex::{Regex, RegexSet};
use unicode_segmentation::UnicodeSegmentation as _;

fn main() {
    let text = String::from_utf8(words(1 << 20)).unwrap();
    let numbers = Regex::new(r"(?i)\b(tick|probe)\s+(\w+)\d{3,}").unwrap();
    let any = RegexSet::new(["fence.*call", "[aeiou]{3}", "^the", "reads (is|of)"]).unwrap();
    let (mut found, mut graphemes) = (0, 0);
    for _ in 0..40 {
        found += numbers.captures_iter(&text).map(|found| found[2].len()).sum::<usize>();
        found += text.lines().map(|line| any.matches(line).iter().count()).sum::<usize>();
        graphemes += text.unicode_words().map(|word| word.graphemes(true).count()).sum::<usize>();
    }
    let part = &text[..200_000];
    let other = part.replace("call", "return").replace("7", "seven");
    let changes = similar::TextDiff::from_words(part, &other).iter_all_changes().count();
    let lines = textwrap::wrap(&text, 72).len();
    println!("{found} {graphemes} {changes} {lines}");
}
