//! The first column of a row, 50 bytes as `%-50.50s` would print them after a long path has lost its middle, and the remark that distinguishes
//! rows with equal first columns.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::{CallsiteReport, Report};

/// GCLK's column, in bytes.
pub(super) const NAME: usize = 50;

/// The names of all rows.
pub(super) struct Names {
    /// How often each name occurs.
    named: HashMap<String, usize>,
    /// How often each first column occurs.
    shown: HashMap<String, usize>,
    /// Whether each first column occurs once, as in most reports.
    are_distinct: bool,
    with_modules: bool,
    by_module: bool,
}

impl Names {
    pub(super) fn new(report: &Report, with_modules: bool) -> Self {
        let rows = &report.callsites;
        let mut names = Self {
            named: occurrences(rows, &|row| row.name.clone()),
            shown: HashMap::new(),
            are_distinct: false,
            with_modules,
            by_module: is_test_binary(report),
        };
        names.shown = occurrences(rows, &|row| names.shown(row));
        names.are_distinct = names.shown.len() == rows.len();
        names
    }

    /// The row's first column: 50 bytes, which may take fewer columns than 50.
    pub(super) fn shown(&self, row: &CallsiteReport) -> String {
        gclk_column(&shortened(&self.full(row)))
    }

    /// The name, however long, preceded by the whole module or, in a test binary, by what of it distinguishes functions.
    pub(super) fn full(&self, row: &CallsiteReport) -> String {
        let (module, name) = (row.module.as_str(), row.name.as_str());
        let inner = (self.by_module.then_some(module)).and_then(|module| module.split_once("::"));
        escaped(&match inner {
            _ if self.with_modules || self.named[name] > 1 => format!("{module}::{name}"),
            Some((_, inner)) => format!("{inner}::{name}"),
            None => name.to_owned(),
        })
    }

    /// The full name and its place in the source, if another row looks the same or the function's own name is cut.
    pub(super) fn note(&self, row: &CallsiteReport) -> Option<String> {
        if self.are_distinct && !self.with_modules {
            return None;
        }
        let full = self.full(row);
        let short = shortened(&full);
        let is_alike = self.shown[&gclk_column(&short)] > 1;
        (is_alike || self.with_modules && short.len() > NAME)
            .then(|| format!("{full} at {}:{}", escaped(&row.file), row.line))
    }
}

/// How many rows have each text.
fn occurrences(
    rows: &[CallsiteReport],
    text: &dyn Fn(&CallsiteReport) -> String,
) -> HashMap<String, usize> {
    let mut occurrences = HashMap::new();
    for row in rows {
        *occurrences.entry(text(row)).or_default() += 1;
    }
    occurrences
}

/// Whether the program is a test or benchmark: cargo names these after their crate and a hash, in a folder `deps`. They call functions
/// of many modules, so their rows show the module.
fn is_test_binary(report: &Report) -> bool {
    let program = report.process.argv.first().map_or("", String::as_str);
    let mut parts = program.rsplit(['/', '\\']);
    let (Some(file), Some("deps")) = (parts.next(), parts.next()) else {
        return false;
    };
    let stem = file.strip_suffix(".exe").unwrap_or(file);
    let is_hash = |of: &str| of.len() == 16 && of.bytes().all(|byte| byte.is_ascii_hexdigit());
    stem.rsplit_once('-').is_some_and(|(_, hash)| is_hash(hash))
}

/// The name with all characters escaped that would move a terminal's cursor, break the line or change the direction of writing.
pub fn escaped(name: &str) -> String {
    if name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '"' | '\'' | '\\' => out.push(character),
            _ => out.extend(character.escape_debug()),
        }
    }
    out
}

/// `%-50.50s`: as many whole characters as fit into 50 bytes, and spaces up to 50 bytes.
pub fn gclk_column(name: &str) -> String {
    let end = end_of_characters(name, NAME);
    name[..end].to_owned() + &" ".repeat(NAME - end)
}

/// The name without the modules in its middle, if it does not fit into the column with them: `crate::..::Type::name`.
fn shortened(full: &str) -> Cow<'_, str> {
    if full.len() <= NAME {
        return full.into();
    }
    let parts = parts(full);
    let without = |end: usize| format!("{}::..::{}", parts[0], parts[end..].join("::"));
    let mut shorter = (2..parts.len()).map(without);
    shorter
        .find(|name| name.len() <= NAME)
        .map_or(full.into(), Cow::Owned)
}

/// What is between the `::` of a path. Those inside of `<…>` do not count.
fn parts(path: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    let mut before = ' ';
    for (at, character) in path.char_indices() {
        match (before, character) {
            (_, '<') => depth += 1,
            ('-', '>') => {}
            (_, '>') => depth = depth.saturating_sub(1),
            (':', ':') if depth == 0 && at > start => {
                parts.push(&path[start..at - 1]);
                start = at + 1;
            }
            _ => {}
        }
        before = character;
    }
    parts.push(&path[start..]);
    parts
}

/// Where the whole characters in the first `most` bytes end. `str::floor_char_boundary` needs Rust 1.91.
pub(super) fn end_of_characters(text: &str, most: usize) -> usize {
    let mut ends = (0..=most.min(text.len())).rev();
    ends.find(|&end| text.is_char_boundary(end)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(names: &[(&str, &str, u32)]) -> Report {
        let callsites = names.iter().map(|&(module, name, line)| CallsiteReport {
            name: name.to_owned(),
            module: module.to_owned(),
            file: "src/lib.rs".to_owned(),
            line,
            ..CallsiteReport::default()
        });
        Report {
            callsites: callsites.collect(),
            ..Report::default()
        }
    }

    fn shown(report: &Report) -> Vec<(&str, Option<String>)> {
        let names = Names::new(report, false);
        let rows = report.callsites.iter();
        rows.map(|row| {
            let shown = names.shown(row);
            assert_eq!(shown.len(), NAME);
            let at = report
                .callsites
                .iter()
                .position(|other| std::ptr::eq(other, row))
                .unwrap();
            (
                report.callsites[at].name.as_str(),
                names
                    .note(row)
                    .or_else(|| Some(shown.trim_end().to_owned())),
            )
        })
        .collect()
    }

    #[test]
    fn names_are_cut_to_whole_characters_and_padded_to_bytes() {
        for (name, expected) in [
            ("short", "short"),
            (&"a".repeat(60), &"a".repeat(50)[..]),
            (&format!("{}é", "a".repeat(49)), &"a".repeat(49)),
            (
                &format!("{}🦀", "a".repeat(46)),
                &format!("{}🦀", "a".repeat(46)),
            ),
            (&format!("{}🦀", "a".repeat(47)), &"a".repeat(47)),
        ] {
            let padded = gclk_column(name);
            assert_eq!((padded.len(), padded.trim_end()), (50, expected));
        }
    }

    #[test]
    fn long_paths_lose_the_modules_in_their_middle() {
        for (full, expected) in [
            ("a::b::c", "a::b::c"),
            (
                "grass_compiler::selector::complex::ComplexSelector::specificity",
                "grass_compiler::..::ComplexSelector::specificity",
            ),
            (
                "weezl::encode::<EncodeState<a::B, fn() -> c::D> as Stateful>::advance",
                "weezl::..::advance",
            ),
            (
                "a_crate::module::a_function_whose_name_alone_is_longer_than_that",
                "a_crate::module::a_function_whose_name_alone_is_longer_than_that",
            ),
            (
                "AType::a_function_whose_name_is_much_too_long_for_it",
                "AType::a_function_whose_name_is_much_too_long_for_it",
            ),
        ] {
            assert_eq!(shortened(full), expected);
        }
    }

    #[test]
    fn names_cannot_touch_the_terminal() {
        let name = escaped("a\nb\x1b[2Jc\u{202e}d\u{200b}\r\t\u{85}\u{2028}🦀'\"\\");
        assert_eq!(
            name,
            r#"a\nb\u{1b}[2Jc\u{202e}d\u{200b}\r\t\u{85}\u{2028}🦀'"\"#
        );
    }

    #[test]
    fn rows_that_look_alike_are_told_apart() {
        let long = |end| format!("{}{end}", "x".repeat(50));
        let of = report(&[
            ("app::a", "same", 1),
            ("app::b", "same", 2),
            ("app::a", "same", 3),
            ("app", &long("1"), 4),
            ("app", &long("2"), 5),
            ("app", "other", 6),
        ]);
        let notes: Vec<_> = shown(&of)
            .into_iter()
            .map(|(_, note)| note.unwrap())
            .collect();
        assert_eq!(notes[0], "app::a::same at src/lib.rs:1");
        assert_eq!(notes[1], "app::b::same");
        assert_eq!(notes[2], "app::a::same at src/lib.rs:3");
        assert!(
            notes[3].ends_with("x1 at src/lib.rs:4") && notes[4].ends_with("x2 at src/lib.rs:5")
        );
        assert_eq!(notes[5], "other");
    }

    #[test]
    fn rows_of_test_binaries_say_their_module() {
        let mut of = report(&[("app::parser", "parse", 1)]);
        assert_eq!(shown(&of)[0].1.as_deref(), Some("parse"));
        of.process.argv = vec!["/x/target/debug/deps/app-0123456789abcdef".to_owned()];
        assert_eq!(shown(&of)[0].1.as_deref(), Some("parser::parse"));
    }
}
