//! The call tree as data.

#[cfg(has_callsites)]
use std::cmp::Ordering;

use super::getters::data;
use super::{CallsiteReport, Report, WholeTicks};
#[cfg(has_callsites)]
use crate::order::order;

data! {
    /// One node of the call tree: a callsite, called through a chain of others.
    pub struct Context {
        /// The callsite, as an index into the report's `callsites`. `None` for the context of all calls for which a thread's call tree had
        /// no room left.
        callsite: Option<u64>,
        /// The context from which this one was called, as an index into `contexts` that is smaller than this one's own. `None` for a root.
        parent: Option<u64>,
        /// Calls that have returned; `None` if they are unknown, as in programs with light probes.
        calls: Option<u64> by Add,
        /// Those of the calls that were neither preempted, migrated nor signalled; `None` if this is unknown.
        clean: Option<u64> by Add,
        /// Inclusive net ticks, on the CPU and blocked.
        total_ticks: WholeTicks by Add => f64 = to_f64(),
        /// The part of `total_ticks` on the CPU.
        on_cpu_ticks: Option<WholeTicks> by Add => Option<f64> = map(WholeTicks::to_f64),
        /// Net ticks outside annotated callees, on the CPU if that is known.
        self_ticks: WholeTicks by Add => f64 = to_f64(),
        /// The cost of probes that was subtracted from `self_ticks`, and from `total_ticks` here and in the contexts around this one.
        probe_ticks: WholeTicks by Add => f64 = to_f64(),
    }
}

/// The name of contexts without a callsite.
pub const OTHER: &str = "<other>";

impl Report {
    /// The name of the context's function. `<other>` if the thread's call tree had no room left.
    #[must_use]
    pub fn name_of_context(&self, context: &Context) -> &str {
        self.callsite_of(context)
            .map_or(OTHER, |callsite| &callsite.name)
    }

    #[doc(hidden)]
    pub fn callsite_of(&self, context: &Context) -> Option<&CallsiteReport> {
        self.callsites.get(context.callsite? as usize)
    }
}

impl Context {
    /// Whether anything happened in it.
    pub(crate) fn has_figures(&self) -> bool {
        self.calls.is_some_and(|calls| calls != 0) || self.total_ticks != WholeTicks::default()
    }

    /// The contexts in a fixed order: each is followed by those called from it, in the order of their callsites.
    #[cfg(has_callsites)]
    pub(crate) fn sorted(contexts: &[Self]) -> Vec<Self> {
        // The last one is taken first, so the order is reversed. Calls without a callsite come after the others.
        let callsite = |of: &Self| of.callsite.unwrap_or(u64::MAX);
        let children = Self::children(contexts, &|one, other| callsite(other).cmp(&callsite(one)));
        let mut places = vec![0; contexts.len()];
        let mut sorted: Vec<Self> = Vec::with_capacity(contexts.len());
        let mut left = children[contexts.len()].clone();
        while let Some(index) = left.pop() {
            places[index] = sorted.len() as u64;
            let context = contexts[index].clone();
            let parent = context.parent.map(|parent| places[parent as usize]);
            sorted.push(Self { parent, ..context });
            left.extend_from_slice(&children[index]);
        }
        sorted
    }

    /// The indices of the contexts that were called from each context, in the order of `compare`. The last element has the roots.
    #[cfg(has_callsites)]
    pub(crate) fn children(
        contexts: &[Self],
        compare: &dyn Fn(&Self, &Self) -> Ordering,
    ) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); contexts.len() + 1];
        for index in order(contexts, compare) {
            let parent = contexts[index].parent;
            children[parent.map_or(contexts.len(), |at| at as usize)].push(index);
        }
        children
    }
}
