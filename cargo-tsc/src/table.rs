//! Tables for a terminal of any width, and as Markdown.

use std::fmt::Write as _;

use anstyle::Style;

use crate::escape::{escaped, markdown};

/// The width if that of the terminal is not known.
pub const USUAL_WIDTH: usize = 100;
/// Names are not cut to fewer characters than this.
const LEAST_NAME: usize = 40;
/// What stands in place of a figure that is not known.
pub const UNKNOWN: &str = "-";
const BOLD: Style = Style::new().bold();

/// A cell, escaped as it is shown, and its style where colours are shown.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell with a style.
    pub fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self {
            text: escaped(text.as_ref()),
            style,
        }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// Rows with a heading. The first column is left-aligned. If the table is too wide, the first column is cut, and then the last columns are
/// left out.
#[derive(Clone, Debug)]
pub struct Table {
    heading: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these columns, the most important ones first.
    pub fn new<const N: usize>(heading: [&str; N]) -> Self {
        Self {
            heading: heading
                .iter()
                .map(|text| Cell::styled(*text, BOLD))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [Cell; N]) {
        debug_assert_eq!(N, self.heading.len());
        self.rows.push(row.into());
    }

    /// The table without the columns in which no row has a figure.
    #[must_use]
    pub fn without_unknown(mut self) -> Self {
        for column in (1..self.heading.len()).rev() {
            if self.rows.iter().all(|row| row[column].text == UNKNOWN) {
                self.heading.remove(column);
                self.rows.iter_mut().for_each(|row| {
                    row.remove(column);
                });
            }
        }
        self
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table for a terminal of `width` columns.
    #[must_use]
    pub fn to_text(&self, width: usize) -> String {
        let widths = self.widths();
        let mut shown = widths.len();
        let others = |shown: usize| {
            widths[1..shown]
                .iter()
                .map(|width| width + 2)
                .sum::<usize>()
        };
        while shown > 2 && widths[0].min(LEAST_NAME) + others(shown) > width {
            shown -= 1;
        }
        let room = width.saturating_sub(others(shown));
        let name = widths[0].min(room.max(LEAST_NAME));
        let mut text = String::new();
        for row in std::iter::once(&self.heading).chain(&self.rows) {
            let first = cut(&row[0].text, name);
            let pad = name - first.chars().count();
            let style = row[0].style;
            let _ = write!(text, "{style}{first}{style:#}{:pad$}", "");
            for (cell, width) in row[1..shown].iter().zip(&widths[1..]) {
                let pad = width - cell.text.chars().count() + 2;
                let _ = write!(
                    text,
                    "{:pad$}{}{}{:#}",
                    "", cell.style, cell.text, cell.style
                );
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }

    /// The table as Markdown. All columns except the first are right-aligned.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        for (index, row) in std::iter::once(&self.heading).chain(&self.rows).enumerate() {
            let cells: Vec<String> = row.iter().map(|cell| markdown(&cell.text)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
            if index == 0 {
                let _ = writeln!(text, "|:--{}|", "|--:".repeat(row.len() - 1));
            }
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.heading.len()];
        for row in std::iter::once(&self.heading).chain(&self.rows) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.chars().count());
            }
        }
        widths
    }
}

/// The terminal's width, if the output is a terminal.
#[must_use]
pub fn width() -> usize {
    use std::io::IsTerminal as _;
    if !std::io::stdout().is_terminal() {
        return USUAL_WIDTH;
    }
    let size = crossterm::terminal::size().ok().and_then(known);
    size.map_or(USUAL_WIDTH, |(columns, _)| columns.max(40))
}

/// The columns and lines of a terminal. A terminal to which nobody has told its size says 0.
#[must_use]
pub fn known(size: (u16, u16)) -> Option<(usize, usize)> {
    (size.0 != 0 && size.1 != 0).then_some((size.0.into(), size.1.into()))
}

/// A name of at most `width` characters, cut in the middle, because its beginning and its end distinguish it from others.
#[must_use]
pub fn cut(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let end = width.saturating_sub(1) * 2 / 3;
    let begin = width.saturating_sub(1) - end;
    let mut cut: String = name.chars().take(begin).collect();
    cut.push('…');
    cut.extend(name.chars().skip(length - end));
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["name", "self", "max"]);
        table.push([
            "a::very::long::path::of::modules::function".into(),
            "1000".into(),
            "7".into(),
        ]);
        table.push(["b|<T>".into(), "2".into(), "8".into()]);
        table
    }

    #[test]
    fn terminal_without_a_size_has_none() {
        assert_eq!(
            [(80, 24), (0, 0), (80, 0)].map(known),
            [Some((80, 24)), None, None]
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [48, 52, 60, 200] {
            let text = table().to_text(width);
            let plain = anstream::adapter::strip_str(&text).to_string();
            for line in plain.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            assert_eq!(plain.contains("max"), width > 48, "{plain}");
        }
    }

    #[test]
    fn a_column_without_figures_is_left_out() {
        let mut table = Table::new(["name", "self", "p", "max"]);
        table.push(["a".into(), UNKNOWN.into(), UNKNOWN.into(), "7".into()]);
        table.push(["b".into(), "2".into(), UNKNOWN.into(), UNKNOWN.into()]);
        let text = table.without_unknown().to_markdown();
        assert!(
            text.contains("| name | self | max |\n")
                && text.contains("| a | - | 7 |\n| b | 2 | - |"),
            "{text}"
        );
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcdefghij", 7), "ab…ghij");
        assert_eq!(cut("ünïcödé", 4), "ü…dé");
    }

    #[test]
    fn markdown_is_escaped() {
        let text = table().to_markdown();
        assert!(
            text.contains("|:--|--:|--:|\n") && text.contains("| b&#124;&#60;T> | 2 | 8 |"),
            "{text}"
        );
    }
}
