//! Prints the call tree: each context is indented below its caller.

use std::collections::BTreeSet;

use super::Page;
use super::scale::count;
use crate::data::{OTHER, share};
use crate::{CallsiteReport, Context};

/// Contexts with a smaller share of the roots' ticks than this are left out.
const LEAST_SHARE: f64 = 0.005;
/// The column with the name and its indentation is the last one, so it needs no width.
const INDENT: usize = 2;
/// A function without a context is named if it has a larger part of all self ticks than this, in percent.
const MISSED: f64 = 1.0;
/// What is deeper is indented as far, so that the length of a deep tree's text does not grow with the square of its depth.
const DEEPEST_INDENT: usize = 50;

/// The tree, if the report has one.
pub(super) fn lines(page: &Page<'_>) -> Vec<String> {
    let report = page.report;
    if report.contexts.is_empty() {
        return Vec::new();
    }
    let (unit, distrust) = (page.scale.unit.unwrap_or("times"), report.clock.distrust());
    let least = LEAST_SHARE * 100.0;
    let mut lines = vec![format!(
        "tsc: call tree, inclusive {unit}{distrust}; contexts under {least:.1} % are left out"
    )];
    lines.extend(missing(page));
    lines.push("tsc:  share        calls          total          mean  function".to_owned());
    let tree = Tree::new(page);
    // Without recursion, for a call tree may be deeper than the stack.
    let mut left = Vec::new();
    tree.push_children(&mut left, report.contexts.len(), 0);
    while let Some((index, depth)) = left.pop() {
        lines.push(tree.line(&report.contexts[index], depth));
        tree.push_children(&mut left, index, depth + 1);
    }
    lines
}

/// The functions that would be expected in the tree beside light ones, if there are any. Of one whose times are not by ticks of the clock, the
/// tree lacks some calls, even if ticks have found others.
fn missing(page: &Page<'_>) -> Option<String> {
    let clock = page.report.tick_clock.as_ref();
    clock.filter(|clock| clock.no_times_because.is_none())?;
    let contexts = page.report.contexts.iter();
    let in_tree: BTreeSet<_> = contexts.filter_map(|context| context.callsite).collect();
    let rows = (0..).zip(&page.report.callsites);
    let is_whole = |index: &_, row: &CallsiteReport| in_tree.contains(index) && row.is_by_ticks();
    let rows = rows.filter(|(index, row)| !is_whole(index, row) && !row.is_section);
    let rows = rows.filter(|(_, row)| page.rows.self_share(row) > MISSED);
    let names: Vec<String> = rows.map(|(_, row)| page.names.full(row)).collect();
    let names = names.join(", ");
    let what = "timed calls that no tick has found, or that began before the first light one";
    (!names.is_empty()).then(|| format!("tsc: not in it are {what}: {names}"))
}

struct Tree<'a> {
    page: &'a Page<'a>,
    /// Those of each context by descending ticks, and then the roots.
    children: Vec<Vec<usize>>,
    /// The ticks of all roots.
    total: f64,
}

impl<'a> Tree<'a> {
    fn new(page: &'a Page<'a>) -> Self {
        let contexts = &page.report.contexts;
        let children = Context::children(contexts, &|one, other| {
            other.total_ticks().total_cmp(&one.total_ticks())
        });
        let roots = children[contexts.len()].iter();
        let total = roots.map(|&index| contexts[index].total_ticks()).sum();
        Self {
            page,
            children,
            total,
        }
    }

    fn share(&self, context: &Context) -> f64 {
        share(context.total_ticks(), self.total)
    }

    /// What is called from `of` and shown, with its depth; what is to be printed first is pushed last.
    fn push_children(&self, left: &mut Vec<(usize, usize)>, of: usize, depth: usize) {
        let contexts = &self.page.report.contexts;
        let is_shown = |&index: &usize| self.share(&contexts[index]) >= LEAST_SHARE;
        let children = &self.children[of];
        let shown = &children[..children.partition_point(is_shown)];
        left.extend(shown.iter().rev().map(|&index| (index, depth)));
    }

    fn line(&self, context: &Context, depth: usize) -> String {
        let (names, scale) = (&self.page.names, &self.page.scale);
        let calls = context.calls.filter(|&calls| calls != 0);
        let mean = calls.map(|calls| context.total_ticks() / calls as f64);
        let callsite = self.page.report.callsite_of(context);
        format!(
            "tsc: {:>5.1} % {:>11} {:>14} {:>13}  {:indent$}{}",
            self.share(context) * 100.0,
            context.calls.map_or("-".to_owned(), count),
            scale.cell(context.total_ticks()),
            scale.known(mean),
            "",
            callsite.map_or(OTHER.to_owned(), |callsite| names.full(callsite)),
            indent = INDENT * depth.min(DEEPEST_INDENT),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{TickClock, WholeTicks};
    use crate::{CallsiteReport, Report, TextOptions, TextUnit};

    fn tree(report: &Report) -> Vec<String> {
        let options = TextOptions::default().unit(TextUnit::Ticks);
        lines(&Page::new(report, options, &|_| true))
    }

    fn context(callsite: u64, parent: Option<u64>, calls: u64, total_ticks: f64) -> Context {
        Context {
            callsite: Some(callsite),
            parent,
            calls: Some(calls),
            total_ticks: WholeTicks::rounded(total_ticks),
            ..Context::default()
        }
    }

    #[test]
    fn tree_may_be_deeper_than_the_stack() {
        const DEPTH: u64 = 100_000;
        let report = Report {
            callsites: vec![CallsiteReport::default()],
            contexts: (0..DEPTH)
                .map(|index| context(0, index.checked_sub(1), 1, 1000.0))
                .collect(),
            ..Report::default()
        };
        let lines = tree(&report);
        assert_eq!(lines.len() as u64, 2 + DEPTH);
        assert!(lines.iter().all(|line| line.len() < 200));
    }

    #[test]
    fn children_stand_under_their_callers_and_little_is_left_out() {
        let callsite = |name: &str| CallsiteReport {
            name: name.to_owned(),
            ..CallsiteReport::default()
        };
        let report = Report {
            callsites: ["parse", "lex", "main", "rare"].map(callsite).into(),
            contexts: vec![
                context(2, None, 1, 1000.0),
                context(1, Some(0), 40, 300.0),
                context(0, Some(0), 10, 600.0),
                context(1, Some(2), 5, 100.0),
                context(3, Some(2), 5, 4.0),
            ],
            ..Report::default()
        };
        assert_eq!(
            tree(&report)[2..],
            [
                "tsc: 100.0 %           1           1000          1000  main",
                "tsc:  60.0 %          10          600.0          60.0    parse",
                "tsc:  10.0 %           5          100.0          20.0      lex",
                "tsc:  30.0 %          40          300.0           7.5    lex",
            ]
        );
    }

    #[test]
    fn large_rows_that_are_not_in_the_tree_are_named() {
        let callsite = |name: &str, own: f64, is_section: bool| CallsiteReport {
            name: name.to_owned(),
            probe: if name == "lex" { "light" } else { "timed" }.to_owned(),
            self_on_cpu_ticks: Some(own),
            is_section,
            ..CallsiteReport::default()
        };
        let mut report = Report {
            callsites: vec![
                callsite("lex", 900.0, false),
                callsite("main", 600.0, false),
                callsite("little", 9.0, false),
                callsite("part", 600.0, true),
                callsite("worker", 600.0, false),
            ],
            // One of the worker's calls began late enough.
            contexts: vec![context(0, None, 1, 900.0), context(4, None, 1, 300.0)],
            tick_clock: Some(TickClock::default()),
            ..Report::default()
        };
        assert_eq!(
            tree(&report)[1],
            "tsc: not in it are timed calls that no tick has found, or that began before the first light one: main, worker"
        );
        // A tree that no clock has made lacks the calls of runs that recorded none.
        report.tick_clock = None;
        assert!(tree(&report)[1].starts_with("tsc:  share "));
    }
}
