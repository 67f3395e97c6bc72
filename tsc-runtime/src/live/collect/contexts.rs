//! Makes the report's contexts from the registry's call trees.

use std::collections::HashMap;

use crate::registry::{Figures, LightTotals, Tree};
use crate::{interruption, on_cpu};
use tsc_report::__private::WholeTicks;
use tsc_report::Context;

/// The contexts that have figures, and their ancestors. `numbers` are the callsites' numbers in the order of the report. In a program with
/// light probes they are those of the ticks, which also find timed functions.
pub(in crate::live) fn collect_contexts(
    figures: &Figures,
    numbers: &[Option<u32>],
) -> Vec<Context> {
    let indices: HashMap<u32, u64> = numbers
        .iter()
        .copied()
        .zip(0..)
        .filter_map(|(number, index)| Some((number?, index)))
        .collect();
    let index_of = |number: Option<u32>| indices.get(&number?).copied();
    let contexts = if figures.light.contexts().is_empty() {
        contexts(&figures.tree, index_of)
    } else {
        light_contexts(&figures.light, index_of)
    };
    Context::sorted(&contexts)
}

fn light_contexts(
    light: &LightTotals,
    index_of: impl Fn(Option<u32>) -> Option<u64>,
) -> Vec<Context> {
    let contexts = light.contexts().iter().map(|context| {
        let (own, inclusive) = (&context.sums.own, &context.sums.inclusive);
        Context {
            callsite: index_of(context.callsite),
            parent: context.parent.map(|parent| parent as u64),
            calls: None,
            clean: None,
            total_ticks: WholeTicks(inclusive.net()),
            on_cpu_ticks: Some(WholeTicks(inclusive.on_cpu)),
            self_ticks: WholeTicks(own.on_cpu),
        }
    });
    contexts.collect()
}

fn contexts(tree: &Tree, index_of: impl Fn(Option<u32>) -> Option<u64>) -> Vec<Context> {
    let needed = tree.needed();
    let is_detected = interruption::unavailable().is_none();
    let is_asked = on_cpu::unavailable().is_none();
    let mut places = Vec::with_capacity(needed.len());
    let mut contexts = Vec::new();
    for (node, is_needed) in tree.nodes().iter().zip(needed) {
        places.push(contexts.len() as u64);
        if !is_needed {
            continue;
        }
        let sums = &node.sums;
        contexts.push(Context {
            callsite: index_of(node.callsite),
            parent: node.parent.map(|parent| places[parent]),
            calls: Some(sums.calls),
            clean: is_detected.then(|| sums.calls.saturating_sub(sums.unclean)),
            total_ticks: WholeTicks(sums.on_cpu).plus(WholeTicks(sums.blocked)),
            on_cpu_ticks: is_asked.then_some(WholeTicks(sums.on_cpu)),
            self_ticks: WholeTicks(sums.own),
        });
    }
    contexts
}
