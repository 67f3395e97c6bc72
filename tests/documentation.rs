//! Tests that the texts are complete, short enough, and linked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tsc_runtime::{TextForm, TextOptions};

#[path = "generated.rs"]
mod generated;

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// Texts beside the book.
const TOP: [&str; 5] = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "studies/README.md",
];

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages of the book, its summary included.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(Path::new(WORKSPACE).join("docs")).expect("docs is a folder");
    let files = docs.map(|entry| entry.expect("it can be listed").path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

/// A page without the parts that are made of the code.
fn by_hand(text: &str) -> String {
    let mut parts = text.split("<!-- generated: ");
    let mut hand = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, after) = part.split_once("<!-- end -->").expect("the part ends");
        hand += after;
    }
    hand
}

#[test]
fn pages_are_as_short_as_they_shall_be() {
    let lines: usize = pages()
        .iter()
        .map(|page| by_hand(&read(page)).lines().count())
        .sum();
    assert!(
        lines <= 1200,
        "docs has {lines} lines that are written by hand"
    );
    for (name, most) in [("README.md", 110), ("CHANGELOG.md", 30)] {
        let text = read(&Path::new(WORKSPACE).join(name));
        let lines = text.lines().count();
        assert!(lines <= most, "{name} has {lines} lines");
        for line in text.lines() {
            let columns = line.chars().count();
            assert!(columns <= 120, "{columns} columns: {line}");
        }
    }
}

/// The first sentence of a module's documentation.
fn first_sentence(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//! "));
    let text = lines.collect::<Vec<_>>().join(" ");
    let end = text.find(". ").unwrap_or(text.len());
    text[..end].trim_end_matches('.').to_owned()
}

#[test]
fn page_of_the_architecture_has_every_module() {
    let mut page = String::new();
    for krate in [
        "tsc-core",
        "tsc-runtime",
        "tsc-report",
        "tsc-attr",
        "cargo-tsc",
    ] {
        page += &format!("| in `{krate}/src` | what it holds |\n|---|---|\n");
        let sources = Path::new(WORKSPACE).join(krate).join("src");
        let entries = fs::read_dir(&sources).expect("the sources are there");
        let mut paths: Vec<_> = entries
            .map(|entry| entry.expect("it can be listed").path())
            .collect();
        paths.sort();
        let is_root = |path: &Path| path.ends_with("lib.rs") || path.ends_with("main.rs");
        for path in paths.iter().filter(|path| !is_root(path)) {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a name");
            let (source, slash) = if path.is_dir() {
                (path.join("mod.rs"), "/")
            } else {
                (path.clone(), "")
            };
            // What is in a folder beside its file of the same name is part of that.
            if source.exists() {
                page += &format!("| `{name}{slash}` | {} |\n", first_sentence(&read(&source)));
            }
        }
        page.push('\n');
    }
    generated::check_part(
        "architecture.md",
        "cargo test -p tests --test documentation",
        &page,
    );
}

#[test]
fn summary_has_every_page() {
    let summary = read(&Path::new(WORKSPACE).join("docs/SUMMARY.md"));
    for page in pages() {
        let name = page
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "{name} is not in it"
        );
    }
}

/// The words that stand out on a page, in bold or as code.
fn marked_words(text: &str) -> BTreeSet<&str> {
    let bold = text.split("**").skip(1).step_by(2);
    let code = text.split('`').skip(1).step_by(2);
    bold.chain(code)
        .flat_map(|words| words.split([',', ' ']))
        .collect()
}

#[test]
fn every_column_is_explained() {
    tsc_runtime::cycles_block!("a row", {});
    let page = read(&Path::new(WORKSPACE).join("docs/reading.md"));
    let known = marked_words(&page);
    let report = tsc_runtime::snapshot();
    for form in [TextForm::Short, TextForm::Full] {
        let text = report.to_text(&TextOptions::default().form(form).width(400));
        let mut lines = text
            .lines()
            .filter(|line| line.starts_with("      ") && line.contains(" self"));
        let heading = lines
            .next()
            .unwrap_or_else(|| panic!("no heading in {text}"));
        let (_, columns) = heading.split_once(" :").expect("the second column of GCLK");
        let units = ["ticks", "s.e."];
        for column in columns
            .split_whitespace()
            .filter(|word| !units.contains(word))
        {
            assert!(
                known.contains(column),
                "docs/reading.md does not explain {column}"
            );
        }
    }
}

/// Pages of the book link to one another alone, for a link to another file would be dead in the book.
#[test]
fn links_lead_somewhere() {
    let docs = Path::new(WORKSPACE).join("docs");
    let top = TOP.map(|name| Path::new(WORKSPACE).join(name));
    let mut links = 0;
    for page in top.into_iter().chain(pages()) {
        let text = read(&page);
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            if link.is_empty() || link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.with_file_name(file)
            };
            assert!(target.exists(), "{}: {link} is not there", page.display());
            assert!(
                !page.starts_with(&docs) || !file.contains(".."),
                "{}: {link} leads out of the book",
                page.display()
            );
            if !fragment.is_empty() {
                assert!(
                    anchors(&read(&target)).contains(fragment),
                    "{}: no heading {link}",
                    page.display()
                );
            }
            links += 1;
        }
    }
    assert!(links > 50, "{links} links");
}

/// The headings of a page, as links name them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let words = heading
                .trim_start_matches('#')
                .trim()
                .to_lowercase()
                .replace(' ', "-");
            words
                .chars()
                .filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter))
                .collect()
        })
        .collect()
}
