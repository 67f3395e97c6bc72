//! Counts the words of a text, and prints the most frequent ones.

mod count;
mod text;

fn main() {
    let text = text::write(60_000);
    let mut counts = count::words(&text);
    counts.sort_by(|a, b| b.1.cmp(&a.1));
    for (word, count) in counts.iter().take(3) {
        println!("{count:6} {word}");
    }
}
