//! Counts words: the same as src/count.rs, but a word is not compared with all others.

use std::collections::HashMap;

/// Each word of the text in lower case, and how often it occurs.
pub fn words(text: &str) -> Vec<(String, u32)> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        add(&mut counts, lower(word));
    }
    counts.into_iter().collect()
}

fn lower(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
}

fn add(counts: &mut HashMap<String, u32>, word: String) {
    *counts.entry(word).or_default() += 1;
}
