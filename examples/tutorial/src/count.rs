//! Counts words.

/// Each word of the text in lower case, and how often it occurs.
pub fn words(text: &str) -> Vec<(String, u32)> {
    let mut counts = Vec::new();
    for word in text.split_whitespace() {
        add(&mut counts, lower(word));
    }
    counts
}

fn lower(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
}

fn add(counts: &mut Vec<(String, u32)>, word: String) {
    match counts.iter_mut().find(|(known, _)| *known == word) {
        Some((_, count)) => *count += 1,
        None => counts.push((word, 1)),
    }
}
