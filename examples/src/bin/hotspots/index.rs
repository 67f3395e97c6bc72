//! The index: the files and the number of occurrences of each word.

use std::fmt::Write;

use tsc_runtime::cycles;

use crate::words;

/// A word, and its occurrences.
struct Entry {
    word: Box<[u8]>,
    hash: u64,
    occurrences: u64,
    files: u64,
    /// The file that was counted last, plus 1.
    last_file: u64,
}

/// A hash table with open addressing, in which every word of every file is looked up.
#[derive(Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    /// The numbers of entries, plus 1; 0 is a free place. The length is a power of two, and at most half of it is in use.
    places: Vec<u32>,
    files: u64,
    bytes: u64,
    words: u64,
}

impl Index {
    /// Counts all words of one file.
    #[cycles]
    pub(crate) fn add_file(&mut self, text: &[u8]) {
        self.files += 1;
        self.bytes += text.len() as u64;
        let words = words::split(text);
        self.count(text, &words);
    }

    /// Counts the words in these places. What it calls takes nanoseconds a word, and is measured as a whole.
    #[cycles(items = words.len())]
    fn count(&mut self, text: &[u8], words: &[(usize, usize)]) {
        let mut normal = Vec::new();
        for &(start, end) in words {
            words::normalise(&text[start..end], &mut normal);
            let number = self.intern(&normal, words::hash(&normal));
            self.add_occurrence(number);
        }
    }

    fn add_occurrence(&mut self, number: usize) {
        let entry = &mut self.entries[number];
        entry.occurrences += 1;
        if entry.last_file != self.files {
            entry.last_file = self.files;
            entry.files += 1;
        }
        self.words += 1;
    }

    /// The number of a word's entry. If there is none, it is created.
    fn intern(&mut self, word: &[u8], hash: u64) -> usize {
        if self.entries.len() * 2 >= self.places.len() {
            self.grow();
        }
        let place = self.place_of(word, hash);
        if self.places[place] == 0 {
            self.entries.push(Entry {
                word: word.into(),
                hash,
                occurrences: 0,
                files: 0,
                last_file: 0,
            });
            self.places[place] =
                u32::try_from(self.entries.len()).expect("more than 4 billion words");
        }
        self.places[place] as usize - 1
    }

    fn place_of(&self, word: &[u8], hash: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while let Some(number) = (self.places[place] as usize).checked_sub(1) {
            let entry = &self.entries[number];
            if entry.hash == hash && *entry.word == *word {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    /// Doubles the number of places.
    #[cycles]
    fn grow(&mut self) {
        let length = (self.places.len() * 2).max(1024);
        self.places = vec![0; length];
        for (number, entry) in self.entries.iter().enumerate() {
            let mut place = entry.hash as usize & (length - 1);
            while self.places[place] != 0 {
                place = (place + 1) & (length - 1);
            }
            self.places[place] = number as u32 + 1;
        }
    }

    /// Adds the part of another thread.
    #[cycles]
    pub(crate) fn merge(&mut self, part: Self) {
        self.files += part.files;
        self.bytes += part.bytes;
        self.words += part.words;
        for entry in part.entries {
            let number = self.intern(&entry.word, entry.hash);
            self.entries[number].occurrences += entry.occurrences;
            self.entries[number].files += entry.files;
        }
    }

    /// The words, by the number of files that contain them, and then by their occurrences.
    #[cycles]
    fn rank(&self) -> Vec<&Entry> {
        let mut ranked: Vec<_> = self.entries.iter().collect();
        ranked.sort_by_key(|entry| (!entry.files, !entry.occurrences, &entry.word));
        ranked
    }

    /// A short summary of the index, with the first `top` words.
    pub(crate) fn summary(&self, top: usize) -> String {
        let mut text = format!(
            "{} files, {} bytes, {} words, {} of them different\n",
            self.files,
            self.bytes,
            self.words,
            self.entries.len()
        );
        for entry in self.rank().into_iter().take(top) {
            let word = String::from_utf8_lossy(&entry.word);
            let _ = writeln!(
                text,
                "{word:>20} in {:>5} files, {:>7} times",
                entry.files, entry.occurrences
            );
        }
        text
    }
}
