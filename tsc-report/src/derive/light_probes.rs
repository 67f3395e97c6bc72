//! Subtracts from times by ticks of the clock what probes cost, as far as it is known.
//!
//! A timed probe has fences, and most of what it does is between the ends of its call as ticks see them. So the calibrated cost is that of its
//! function. A light probe overlaps with the code around it, so its cost differs from function to function, and nothing in a run tells it for one of
//! them. `fine_grained` of the studies compares the result with profiles of programs without probes.

use crate::data::WholeTicks;
use crate::{CallsiteReport, Context};

/// The part of a probe's cost that is in the self ticks of its own function. The rest is in those of the caller: what comes before the check
/// at the start, and after the one at the end. Of the parts from 0.25 to 1, those from 0.65 to 0.75 brought four programs nearest to their
/// profiles (EPYC, Zen 4), and 0.5 six programs (Zen 5).
const OWN_PART: f64 = 2.0 / 3.0;
/// At most this share of a function's self ticks is subtracted: the probes of a very short one cost less, because they overlap with more work
/// of its callers.
const MOST: f64 = 0.5;
/// For timed probes, too, at most this share is subtracted.
const MOST_IN_ALL: f64 = 0.95;

/// Subtracts it from the functions and from their contexts, and returns the sum. Contexts that have a correction lose it first. So that of
/// merged reports is what it is for one long run.
pub(super) fn subtract(callsites: &mut [CallsiteReport], contexts: &mut [Context]) -> f64 {
    correct(contexts, -1);
    let shares = shares_of_self(callsites, contexts);
    for context in &mut *contexts {
        let share = context.callsite.map_or(0.0, |at| shares[at as usize]);
        context.probe_ticks = WholeTicks::rounded(share * context.self_ticks.to_f64());
    }
    let inclusive = correct(contexts, 1);
    let mut sums = vec![(0.0, 0.0); callsites.len()];
    for (context, inclusive) in contexts.iter().zip(inclusive) {
        if let Some(callsite) = context.callsite {
            let (own, total) = &mut sums[callsite as usize];
            *own += context.probe_ticks.to_f64();
            // Of a recursion, the outermost call has the time of the others.
            if !is_recursive(context, contexts) {
                *total += inclusive as f64;
            }
        }
    }
    for (callsite, &(own, total)) in callsites.iter_mut().zip(&sums) {
        callsite.subtract_probes(own, total);
    }
    sums.iter().map(|&(own, _)| own).sum()
}

/// Subtracts each context's correction from its ticks and from those of the contexts around it, or adds it to them. Returns the inclusive
/// corrections. The figures of a file may be absurd, so nothing may overflow.
fn correct(contexts: &mut [Context], sign: i64) -> Vec<i64> {
    let own = |context: &Context| context.probe_ticks.0.wrapping_mul(sign);
    let mut inclusive: Vec<i64> = contexts.iter().map(own).collect();
    let mut inside: Vec<i64> = contexts.iter().map(|of| of.self_ticks.0).collect();
    for (at, context) in contexts.iter().enumerate().rev() {
        if let Some(parent) = context.parent {
            inclusive[parent as usize] = inclusive[parent as usize].wrapping_add(inclusive[at]);
            inside[parent as usize] = inside[parent as usize].wrapping_add(inside[at]);
        }
    }
    let further_out = corrections_further_out(contexts, &inside, &inclusive);
    for (at, context) in contexts.iter_mut().enumerate() {
        inclusive[at] = inclusive[at].wrapping_add(further_out[at]);
        context.self_ticks.0 = context.self_ticks.0.wrapping_sub(own(context));
        context.total_ticks.0 = context.total_ticks.0.wrapping_sub(inclusive[at]);
        if let Some(on_cpu) = &mut context.on_cpu_ticks {
            on_cpu.0 = on_cpu.0.wrapping_sub(inclusive[at]);
        }
    }
    inclusive
}

/// For each context, the correction of the inner calls that ran in it and belong to a context further out. In A → B → A, the time of the inner
/// A is in the ticks of B, while its self ticks are those of the outer A. They lose the share that everything there loses but B: so no callee
/// takes longer than its caller. `inside` are the self ticks of each context and those called from it, and `inclusive` their corrections.
fn corrections_further_out(contexts: &[Context], inside: &[i64], inclusive: &[i64]) -> Vec<i64> {
    let on_cpu = |at: usize| {
        contexts[at]
            .on_cpu_ticks
            .unwrap_or(contexts[at].total_ticks)
    };
    let further_out = |at: usize| on_cpu(at).to_f64() - inside[at] as f64;
    let parent = |&at: &usize| contexts[at].parent.map(|parent| parent as usize);
    let correction = |at: usize| {
        let inner = further_out(at);
        let mut around = std::iter::successors(parent(&at), parent).filter(|_| inner > 0.0);
        let Some(outer) = around.find(|&outer| further_out(outer) <= 0.0) else {
            return 0;
        };
        let rest = inside[outer] as f64 - inside[at] as f64;
        let of_rest = inclusive[outer] as f64 - inclusive[at] as f64;
        if rest > 0.0 {
            (inner * of_rest / rest).round() as i64
        } else {
            0
        }
    };
    (0..contexts.len()).map(correction).collect()
}

/// For each function: the share of its self ticks that is the cost of its own probes and of its callees' light ones.
fn shares_of_self(callsites: &[CallsiteReport], contexts: &[Context]) -> Vec<f64> {
    let mut totals = vec![0.0; callsites.len()];
    for context in contexts {
        if let Some(callsite) = context.callsite {
            totals[callsite as usize] += context.total_ticks.to_f64();
        }
    }
    let own = |callsite: &CallsiteReport| OWN_PART * callsite.cost_of_light_probes();
    let mut costs: Vec<f64> = callsites.iter().map(own).collect();
    for context in contexts {
        let caller = context.parent.and_then(|at| contexts[at as usize].callsite);
        let (Some(callsite), Some(caller)) = (context.callsite, caller) else {
            continue;
        };
        let (callee, caller) = (callsite as usize, caller as usize);
        // The calls of a context are not counted, so its time tells its part of them.
        let part = context.total_ticks.to_f64() / totals[callee].max(1.0);
        costs[caller] += (1.0 - OWN_PART) * part * callsites[callee].cost_of_light_probes();
    }
    let share = |(callsite, light): (&CallsiteReport, f64)| match callsite.sums.ticked_own {
        own if own > 0 => {
            let timed = callsite.probe_ticks.filter(|_| !callsite.is_light());
            let timed = timed.unwrap_or(0.0) / own as f64;
            (timed + (light / own as f64).min(MOST)).min(MOST_IN_ALL)
        }
        _ => 0.0,
    };
    callsites.iter().zip(costs).map(share).collect()
}

/// Whether a context around this one is of the same function.
fn is_recursive(context: &Context, contexts: &[Context]) -> bool {
    let outer = |context: &Context| context.parent.map(|at| &contexts[at as usize]);
    let mut around = std::iter::successors(outer(context), |one| outer(one));
    around.any(|one| one.callsite == context.callsite)
}

#[cfg(test)]
mod tests {
    use super::super::ticked::{self, tests::light};
    use super::*;

    fn context(callsite: u64, parent: Option<u64>, own: i64, total: i64) -> Context {
        Context {
            callsite: Some(callsite),
            parent,
            self_ticks: WholeTicks(own),
            total_ticks: WholeTicks(total),
            on_cpu_ticks: Some(WholeTicks(total)),
            ..Context::default()
        }
    }

    /// A function that calls itself once and another one, whose probes cost 5 ticks a call, and the calls.
    fn program() -> (Vec<CallsiteReport>, Vec<Context>) {
        let callsites = vec![light(200, 20_000, 9, 9), light(800, 12_000, 9, 9)];
        let contexts = vec![
            context(0, None, 15_000, 32_000),
            context(0, Some(0), 5_000, 8_000),
            context(1, Some(1), 3_000, 3_000),
            context(1, Some(0), 9_000, 9_000),
        ];
        (callsites, contexts)
    }

    #[test]
    fn own_and_callees_probes_are_subtracted_up_to_a_share_of_self() {
        let (mut callsites, mut contexts) = program();
        let before: Vec<f64> = callsites.iter().map(|of| of.self_ticks).collect();
        let subtracted = subtract(&mut callsites, &mut contexts);
        let of_rows: Vec<f64> = callsites
            .iter()
            .zip(before)
            .map(|(of, before)| before - of.self_ticks)
            .collect();
        let (own, callers) = (OWN_PART, 1.0 - OWN_PART);
        let cost = 5.0 * ticked::IN_PROGRAMS;
        let of_other = 800.0 * own * cost;
        // Its 200 calls, the 800 calls of the other one, and its own inner calls, in which it is a fifth of the time.
        let own = (200.0 * own + 800.0 * callers + 200.0 * callers * (8.0 / 40.0)) * cost;
        assert!((of_rows[0] - own).abs() <= 1.0, "{of_rows:?}, {own}");
        assert!((of_rows[1] - of_other).abs() <= 1.0, "{of_rows:?}");
        assert_eq!(subtracted, of_rows.iter().sum::<f64>());
        let own: f64 = contexts.iter().map(|of| of.probe_ticks.to_f64()).sum();
        assert_eq!(own, subtracted);
        // The outermost context has all of them.
        assert_eq!(contexts[0].total_ticks.to_f64(), 32_000.0 - subtracted);

        callsites[1] = light(2_000, 12_000, 9, 9);
        subtract(&mut callsites, &mut contexts);
        assert_eq!(callsites[1].self_ticks, (1.0 - MOST) * 12_000.0);
    }

    #[test]
    fn timed_probes_are_their_functions() {
        let (mut callsites, contexts) = program();
        callsites[1].probe = crate::data::TIMED.to_owned();
        callsites[1].sums.light_probe_milliticks = 0;
        let of_the_other = |cost: f64| {
            let (mut callsites, mut contexts) = (callsites.clone(), contexts.clone());
            callsites[1].probe_ticks = Some(cost);
            subtract(&mut callsites, &mut contexts);
            callsites[1].subtracted_ticks()
        };
        assert!((of_the_other(9_000.0) - 9_000.0).abs() <= 1.0);
        assert_eq!(of_the_other(1e6), MOST_IN_ALL * 12_000.0);
    }

    /// A function that calls another one, which calls it again: its inner calls took 6000 ticks, and belong to its outer context.
    fn mutual_recursion() -> (Vec<CallsiteReport>, Vec<Context>) {
        let mut callsites = vec![light(9, 10_000, 9, 9), light(9, 2_000, 9, 9)];
        for (callsite, cost) in callsites.iter_mut().zip([8_000.0, 1_000.0]) {
            callsite.probe = crate::data::TIMED.to_owned();
            callsite.sums.light_probe_milliticks = 0;
            callsite.probe_ticks = Some(cost);
        }
        let contexts = vec![
            context(0, None, 10_000, 12_000),
            context(1, Some(0), 2_000, 8_000),
        ];
        (callsites, contexts)
    }

    #[test]
    fn inner_calls_that_belong_further_out_are_without_probes_in_all_callers() {
        let (mut callsites, mut contexts) = mutual_recursion();
        subtract(&mut callsites, &mut contexts);
        let totals = contexts.iter().map(|of| of.total_ticks.to_f64());
        assert_eq!(Vec::from_iter(totals), [3_000.0, 1_000.0 + 0.2 * 6_000.0]);
    }

    #[test]
    fn correction_of_what_is_corrected_is_the_same() {
        for (mut callsites, mut contexts) in [program(), mutual_recursion()] {
            subtract(&mut callsites.clone(), &mut contexts);
            let once = contexts.clone();
            subtract(&mut callsites, &mut contexts);
            assert_eq!(contexts, once);
        }
    }
}
