//! The inputs of the programs. They are the same in every run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Files by the words that stand for them.
pub struct Inputs(Vec<(&'static str, PathBuf)>);

impl Inputs {
    pub fn make(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let contents = [
            ("{csv}", "rows.csv", csv()),
            ("{json}", "rows.json", json()),
            ("{html}", "page.html", html()),
            ("{svg}", "drawing.svg", svg()),
        ];
        let mut files = vec![("{out}", folder.join("out"))];
        for (word, name, text) in contents {
            let path = folder.join(name);
            fs::write(&path, text)?;
            files.push((word, path));
        }
        Ok(Self(files))
    }

    /// An argument with paths in the words' places.
    pub fn fill(&self, argument: &str) -> String {
        let mut filled = argument.to_owned();
        for (word, path) in &self.0 {
            filled = filled.replace(word, &path.display().to_string());
        }
        filled
    }
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }

    fn of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len() as u64) as usize]
    }
}

const CITIES: [&str; 3] = ["Rome", "Oslo", "Paris"];

fn csv() -> String {
    let (mut text, mut numbers) = ("id,name,price,city\n".to_owned(), Numbers(1));
    for id in 0..1_600_000 {
        let name = numbers.of(&["ann", "bob", "\"c, d\"", "eve"]);
        let price = numbers.below(100_000_000) as f64 / 1e3;
        let _ = writeln!(text, "{id},{name},{price:.3},{}", numbers.of(&CITIES));
    }
    text
}

fn json() -> String {
    let (mut text, mut numbers) = (String::new(), Numbers(1));
    for id in 0..400_000 {
        let (name, city) = (numbers.of(&["ann", "bob", "eve"]), numbers.of(&CITIES));
        let price = numbers.below(100_000_000) as f64 / 1e3;
        let _ = writeln!(
            text,
            "{{\"id\":{id},\"name\":\"{name}\",\"price\":{price:.3},\"city\":\"{city}\"}}"
        );
    }
    text
}

fn html() -> String {
    let mut text = "<html><body><ul>\n".to_owned();
    for id in 0..120_000 {
        let _ = writeln!(
            text,
            "<li class=\"n{}\"><a href=\"/p/{id}?x=1&amp;y=2\">Item <b>{id}</b></a> text &lt;of&gt; the item",
            id % 7
        );
    }
    text + "</ul></body></html>\n"
}

fn svg() -> String {
    let mut text =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1600\" height=\"1200\">\n".to_owned();
    let mut numbers = Numbers(1);
    for _ in 0..6000 {
        let (x, y) = (numbers.below(1600), numbers.below(1200));
        let (fill, stroke) = (numbers.below(1 << 24), numbers.below(1 << 24));
        let _ = writeln!(
            text,
            "<path d=\"M {x} {y} c 20 30 60 -40 80 10 s -30 70 -90 40 z\" fill=\"#{fill:06x}\" fill-opacity=\"0.5\" stroke=\"#{stroke:06x}\" stroke-width=\"2\"/>"
        );
    }
    text + "</svg>\n"
}
