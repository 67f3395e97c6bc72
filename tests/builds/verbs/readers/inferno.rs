//! inferno, the flame graph generator in Rust, makes a picture of the folded stacks.

use std::collections::BTreeMap;

use inferno::flamegraph::{Options, from_lines};

use super::recorded;

/// The boxes of the picture: names and widths in samples, sorted.
fn boxes(folded: &str) -> Vec<(String, u64)> {
    let mut options = Options::default();
    options.min_width = 0.0;
    let mut picture = Vec::new();
    from_lines(&mut options, folded.lines(), &mut picture).unwrap();
    let picture = String::from_utf8(picture).unwrap();
    let titles = picture.split("<title>").skip(1);
    let mut boxes: Vec<_> = titles
        .map(|title| {
            // name (1,234 samples, 5.67%)
            let (title, _) = title.split_once("</title>").unwrap();
            let (name, width) = title.rsplit_once(" (").unwrap();
            let samples = width.split(" samples").next().unwrap().replace(',', "");
            (unescaped(name), samples.parse().unwrap())
        })
        .collect();
    boxes.sort();
    boxes
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn folded_stacks_are_the_contexts() {
    let recorded = recorded();
    recorded.export("folded", "contexts.folded");
    let folded = recorded.project.read("contexts.folded");
    let mut counts: BTreeMap<&str, f64> = folded
        .lines()
        .map(|line| {
            let (stack, count) = line.rsplit_once(' ').unwrap();
            (stack, count.parse().unwrap())
        })
        .collect();
    // The number of samples has a limit, because some readers create a sample for each count.
    let all = recorded.all() as f64;
    let scale = 1.0_f64.min(1e6 / all);
    for (index, context) in recorded.contexts.iter().enumerate() {
        let stack: Vec<_> = recorded.stack(index);
        let stack: Vec<_> = stack.iter().map(|name| name.replace(';', ",")).collect();
        let count = counts.remove(stack.join(";").as_str()).unwrap_or(0.0);
        let expected = context.own as f64 * scale;
        assert!(
            (count - expected).abs() <= 1.0,
            "{stack:?} {count} {expected}"
        );
    }
    assert!(counts.is_empty(), "{counts:?}");
}

/// A box for each part of a stack that neighbouring lines share, once they are sorted: for `p1 5`, `p10 7`, `p1;leaf 9` come in this
/// order, `p1` has two.
fn expected_boxes(folded: &str) -> Vec<(String, u64)> {
    let mut lines: Vec<&str> = folded.lines().collect();
    lines.sort_unstable();
    let (mut boxes, mut open) = (Vec::new(), Vec::<(&str, u64)>::new());
    for line in lines {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let stack: Vec<&str> = std::iter::once("all").chain(stack.split(';')).collect();
        let pairs = open.iter().zip(&stack);
        let shared = pairs.take_while(|(box_, name)| box_.0 == **name).count();
        boxes.extend(open.drain(shared..));
        open.extend(stack[shared..].iter().map(|name| (*name, 0)));
        for (_, width) in &mut open {
            *width += count.parse::<u64>().unwrap();
        }
    }
    boxes.append(&mut open);
    let mut boxes: Vec<_> = boxes
        .into_iter()
        .map(|(name, width)| (name.to_owned(), width))
        .collect();
    boxes.sort();
    boxes
}

#[test]
fn inferno_draws_a_box_for_each_context() {
    let recorded = recorded();
    recorded.export("folded", "tree.folded");
    let folded = recorded.project.read("tree.folded");
    let expected = expected_boxes(&folded);
    assert!(expected.len() > 20, "{expected:?}");
    assert_eq!(boxes(&folded), expected);
}
