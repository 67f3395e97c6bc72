//! Makes the report's contexts from the registry's call tree.

use std::collections::HashMap;

use crate::interruption;
use crate::on_cpu;
use crate::registry::Tree;
use crate::report::Context;
use crate::report::data::WholeTicks;

/// The contexts that have figures, and their ancestors. `numbers` are the callsites' numbers in the order of the report.
pub(in crate::report) fn collect_contexts(tree: &Tree, numbers: &[Option<u32>]) -> Vec<Context> {
    let indices: HashMap<u32, u64> = numbers
        .iter()
        .copied()
        .zip(0..)
        .filter_map(|(number, index)| Some((number?, index)))
        .collect();
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
            callsite: node
                .callsite
                .and_then(|number| indices.get(&number).copied()),
            parent: node.parent.map(|parent| places[parent]),
            calls: sums.calls,
            clean: is_detected.then(|| sums.calls.saturating_sub(sums.unclean)),
            total_ticks: WholeTicks(sums.on_cpu).plus(WholeTicks(sums.off)),
            on_cpu_ticks: is_asked.then_some(WholeTicks(sums.on_cpu)),
            self_ticks: WholeTicks(sums.own),
        });
    }
    Context::sorted(&contexts)
}
