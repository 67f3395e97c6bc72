//! Writes a self-contained page for a dump: call tree, rows, histograms. The page needs no network and can be opened as a file.
//!
//! The flame graph is d3-flame-graph, which uses d3 (Apache-2.0 and ISC, see `assets/`). It can zoom, search and lay out thousands of
//! boxes, and it is maintained. Both libraries are in the page. Everything else is in `page.js`, which reads only the dump.

use tsc_report::Report;

const PAGE: &str = include_str!("assets/page.html");

/// The page for `report`. If `base` is given, the page shows what changed since `base`.
///
/// # Errors
///
/// If a report cannot be written as JSON.
pub fn page(report: &Report, base: Option<&Report>) -> Result<String, serde_json::Error> {
    let base = base.map_or(Ok("null".to_owned()), json)?;
    let title = format!("tsc: {}", program(report));
    let parts = [
        ("title", escape(&title)),
        ("css", include_str!("assets/page.css").to_owned()),
        ("report", json(report)?),
        ("base", base),
        ("d3", include_str!("assets/d3.min.js").to_owned()),
        (
            "flamegraph",
            include_str!("assets/d3-flamegraph.umd.min.js").to_owned(),
        ),
        ("js", include_str!("assets/page.js").to_owned()),
    ];
    Ok(fill(PAGE, &parts))
}

/// Replaces each `{{name}}` in the text by its part. The parts themselves are not searched.
fn fill(text: &str, parts: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut pieces = text.split("{{");
    filled.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        let part = parts.iter().find(|(known, _)| *known == name);
        filled.push_str(part.map_or("", |(_, part)| part));
        filled.push_str(rest);
    }
    filled
}

/// The report as JSON for a script element: no character in it can end the element.
fn json(report: &Report) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(report)?.replace('<', "\\u003c"))
}

fn program(report: &Report) -> &str {
    let path = report.process().argv().first().map_or("", String::as_str);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_not_looked_into() {
        let parts = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(fill("1 {{a}} 2 {{b}} 3", &parts), "1 {{b}} 2 x 3");
    }

    #[test]
    fn page_is_small_and_needs_nothing_from_elsewhere() {
        let page = page(&Report::default(), None).unwrap();
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
        assert!(!page.contains("{{"), "a part is missing");
        for needs in ["<script src", "<link", "@import", "url("] {
            assert!(!page.contains(needs), "{needs}");
        }
        let base = super::page(&Report::default(), Some(&Report::default())).unwrap();
        assert!(base.len() > page.len());
    }
}
