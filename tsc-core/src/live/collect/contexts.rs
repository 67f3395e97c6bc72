//! Makes the report's contexts from the registry's call trees.

use crate::registry::Recorded;
use crate::{interruption, on_cpu};
use tsc_report::__private::WholeTicks;
use tsc_report::Context;

/// The contexts that have figures, and their ancestors. In a program with light probes they are those of the ticks, which also find timed
/// functions.
pub(in crate::live) fn collect_contexts(figures: &Recorded) -> Vec<Context> {
    // Ticks tell the time of each context, but not the calls.
    let (ticked, timed) = (&figures.ticked.tree, &figures.tree);
    let is_ticked = !ticked.nodes.is_empty();
    let tree = if is_ticked { ticked } else { timed };
    let is_detected = !is_ticked && interruption::unavailable().is_none();
    let is_asked = is_ticked || on_cpu::unavailable().is_none();
    let contexts = tree.nodes.iter().map(|node| {
        let sums = &node.sums;
        Context {
            callsite: node.callsite.and_then(|of| figures.index_of(of)),
            parent: node.parent.map(|parent| parent as u64),
            calls: (!is_ticked).then_some(sums.calls),
            clean: is_detected.then(|| sums.calls.saturating_sub(sums.unclean)),
            total_ticks: WholeTicks(sums.on_cpu.wrapping_add(sums.blocked)),
            on_cpu_ticks: is_asked.then_some(WholeTicks(sums.on_cpu)),
            self_ticks: WholeTicks(sums.own),
            probe_ticks: WholeTicks(0),
        }
    });
    contexts.collect()
}
