//! The figures of light probes, added to those of timed ones.

use crate::record::light::{Counts, LightSums, PathSums, Row};
use crate::record::totals::Totals;
use crate::registry::sheets::{Sheets, ThreadName};
use tsc_report::__private::Combine;
use tsc_report::CallsiteSums;

impl Sheets {
    /// Adds the figures of a thread with this name.
    pub(in crate::registry) fn add_light(&mut self, name: &ThreadName, light: &LightSums) {
        let paths = &light.paths;
        let (counts, _) = light.counts.as_chunks();
        let numbers = paths.iter().filter_map(|path| path.callsite);
        let most = numbers.max().map_or(0, |number| number as usize + 1);
        let called = counts.iter().rposition(|of| *of != Counts::default());
        let most = most.max(called.map_or(0, |number| number + 1));
        let (rows, ticked) = self.of(name, most);
        for (Totals { sums, .. }, counts) in rows.iter_mut().zip(counts) {
            if *counts != Counts::default() {
                add_counts(sums, counts);
                sums.threads += 1;
            }
        }
        let nodes = ticked.tree.nodes_of(paths);
        for (index, path) in paths.iter().enumerate() {
            let part = &path.sums;
            let Some(own) = nodes[index] else {
                // There is nothing of other places that have no node.
                ticked.outside.merge(part);
                continue;
            };
            let own = &mut ticked.tree.nodes[own];
            own.sums.own = own.sums.own.wrapping_add(part.on_cpu);
            if let Some(number) = own.callsite {
                add_own(&mut rows[number as usize].sums, part);
            }
            let mut at = path.chain;
            while let Some(around) = nodes[at] {
                let around = &mut ticked.tree.nodes[around];
                around.sums.on_cpu = around.sums.on_cpu.wrapping_add(part.on_cpu);
                let blocked = part.off.wrapping_sub(part.waiting);
                around.sums.blocked = around.sums.blocked.wrapping_add(blocked);
                if let Some(number) = around.callsite {
                    add_inclusive(&mut rows[number as usize].sums, part);
                }
                at = paths[at].outer;
            }
        }
    }
}

/// Adds calls.
pub(super) fn add_counts(sums: &mut CallsiteSums, counts: &Counts) {
    sums.counted.merge(&counts[Row::CALLS]);
    sums.units.merge(&counts[Row::UNITS]);
    sums.polls.merge(&counts[Row::POLLS]);
    sums.cancelled.merge(&counts[Row::CANCELLED]);
}

/// Adds time in which the function was innermost.
fn add_own(sums: &mut CallsiteSums, part: &PathSums) {
    sums.clock_ticks += part.ticks;
    sums.ticked_own += part.on_cpu;
    sums.ticked_own_off += part.off;
    sums.ticked_own_waiting += part.waiting;
    sums.ticked_squares = sums.ticked_squares.wrapping_add(part.squares);
}

/// Adds time in which the function was running.
fn add_inclusive(sums: &mut CallsiteSums, part: &PathSums) {
    sums.ticked += part.on_cpu;
    sums.ticked_off += part.off;
    sums.ticked_waiting += part.waiting;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::empty_calls::Light;
    use crate::record::callsite::{Callsite, meta};
    use crate::record::light::{Frame, Paths};
    use crate::registry::tree::Node;

    /// The callsite with this number.
    fn callsite(number: u32) -> &'static Callsite {
        let callsite = Callsite::new::<Light>(meta(&(), module_path!(), line!()));
        Box::leak(Box::new(callsite.numbered(number)))
    }

    /// A tick finds the calls of these callsites running, the outermost first.
    fn tick(paths: &Paths, stack: &[u32]) {
        let frames: Vec<Frame> = stack.iter().map(|_| Frame::new()).collect();
        let mut innermost = std::ptr::null();
        for (frame, number) in frames.iter().zip(stack) {
            frame.set_callsite(callsite(*number));
            frame.set_outer(innermost);
            innermost = frame;
        }
        // SAFETY: the frames exist, and have both fields.
        unsafe {
            let place = paths.place_of(innermost);
            paths.add(place, &PathSums::tick(1000, 0));
            // The links are restored, and the places are kept.
            assert_eq!(paths.place_of(innermost), place);
            let mut count = 0;
            while let Some(frame) = innermost.as_ref() {
                innermost = frame.outer();
                count += 1;
            }
            assert_eq!(count, stack.len());
        }
    }

    fn sums(paths: &Paths) -> LightSums {
        LightSums {
            counts: Vec::new(),
            paths: paths.read(),
        }
    }

    fn add(sheets: &mut Sheets, stacks: &[&[u32]]) {
        let paths = Paths::new().unwrap();
        for stack in stacks {
            tick(&paths, stack);
        }
        sheets.add_light(&None, &sums(&paths));
    }

    fn totals(stacks: &[&[u32]]) -> Sheets {
        let mut sheets = Sheets::default();
        add(&mut sheets, stacks);
        sheets
    }

    /// The ticks in which a callsite was innermost, and thousands of ticks of the counter in which it was running.
    fn row(totals: &mut Sheets, number: u32) -> (u64, i64) {
        let Totals { sums, .. } = &totals.of(&None, 0).0[number as usize];
        (sums.clock_ticks, sums.ticked / 1000)
    }

    /// The chains of callsites, outermost first, with thousands of the same ticks.
    fn contexts(totals: &Sheets) -> Vec<(Vec<u32>, i64, i64)> {
        let nodes = &totals.ticked.tree.nodes;
        let chain = |context: &Node| {
            let mut chain = vec![context.callsite.unwrap()];
            let mut parent = context.parent;
            while let Some(index) = parent {
                chain.insert(0, nodes[index].callsite.unwrap());
                parent = nodes[index].parent;
            }
            (chain, context.sums.own / 1000, context.sums.on_cpu / 1000)
        };
        let mut contexts: Vec<_> = nodes.iter().map(chain).collect();
        contexts.sort();
        contexts
    }

    #[test]
    fn chain_of_callers_is_a_context() {
        let mut totals = totals(&[&[], &[1], &[1, 2], &[1, 2], &[1, 3], &[1, 3, 2], &[2]]);
        assert_eq!(
            [1, 2, 3].map(|number| row(&mut totals, number)),
            [(1, 5), (4, 4), (1, 2)]
        );
        let outside = totals.ticked.outside;
        assert_eq!((outside.ticks, outside.on_cpu), (1, 1000));
        assert_eq!(
            contexts(&totals),
            [
                (vec![1], 1, 5),
                (vec![1, 2], 2, 2),
                (vec![1, 3], 1, 2),
                (vec![1, 3, 2], 1, 1),
                (vec![2], 1, 1),
            ]
        );
    }

    #[test]
    fn recursion_counts_each_tick_once() {
        let mut totals = totals(&[&[1, 1, 1], &[1, 1, 2], &[1, 2, 2, 2], &[1]]);
        assert_eq!(
            [1, 2].map(|number| row(&mut totals, number)),
            [(2, 4), (2, 2)]
        );
        assert_eq!(contexts(&totals), [(vec![1], 2, 4), (vec![1, 2], 2, 2)]);
    }

    #[test]
    fn function_runs_while_calls_inside_it_are_in_an_outer_context() {
        // A calls B, which calls A again, which calls C.
        let mut totals = totals(&[
            &[1, 2],
            &[1, 2, 1],
            &[1, 2, 1, 3],
            &[1, 3],
            &[1, 2, 1, 3, 2],
        ]);
        assert_eq!(
            [1, 2, 3].map(|number| row(&mut totals, number)),
            [(1, 5), (2, 4), (2, 3)]
        );
        assert_eq!(
            contexts(&totals),
            [(vec![1], 1, 5), (vec![1, 2], 2, 4), (vec![1, 3], 2, 3)]
        );
    }

    #[test]
    fn recursion_may_be_deep() {
        let depth = if cfg!(miri) { 100 } else { 100_000 };
        let deep: Vec<u32> = (0..depth).map(|depth| 1 + depth % 3).collect();
        let mut totals = totals(&[&deep]);
        assert_eq!(
            [1, 2, 3].map(|number| row(&mut totals, number)),
            [(1, 1), (0, 1), (0, 1)]
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes too long")]
    fn chains_without_room_have_one_context() {
        let paths = Paths::new().unwrap();
        for number in 1..20_000 {
            tick(&paths, &[number]);
        }
        let mut totals = Sheets::default();
        totals.add_light(&None, &sums(&paths));
        let nodes = &totals.ticked.tree.nodes;
        let ticks = |context: &Node| context.sums.own / 1000;
        assert_eq!(nodes.iter().map(ticks).sum::<i64>(), 19_999);
        let other = nodes.iter().find(|context| context.callsite.is_none());
        assert!(ticks(other.unwrap()) > 3000);
    }

    #[test]
    fn time_is_divided_as_the_ticks_are() {
        let paths = Paths::new().unwrap();
        for stack in [&[][..], &[1], &[1], &[1, 2]] {
            tick(&paths, stack);
        }
        paths.divide(2002, &[]);
        let mut totals = Sheets::default();
        totals.add_light(&None, &sums(&paths));
        let own = [1, 2].map(|number| totals.of(&None, 0).0[number].sums.ticked_own);
        // What cannot be divided evenly is outside.
        assert_eq!(
            (totals.ticked.outside.on_cpu, own),
            (1000 + 501, [2000 + 1001, 1000 + 500])
        );
        Paths::new().unwrap().divide(5, &[]);
    }

    #[test]
    fn user_may_count_anything() {
        let mut sums = CallsiteSums::default();
        for _ in 0..2 {
            add_counts(&mut sums, &[1, u64::MAX, 0, 0]);
        }
        assert_eq!((sums.counted, sums.units), (2, u64::MAX));
    }

    #[test]
    fn threads_add_up() {
        let mut both = totals(&[&[1], &[1, 2]]);
        add(&mut both, &[&[2], &[1, 2], &[1, 3]]);
        assert_eq!(
            contexts(&both),
            [
                (vec![1], 1, 4),
                (vec![1, 2], 2, 2),
                (vec![1, 3], 1, 1),
                (vec![2], 1, 1),
            ]
        );
        assert_eq!(row(&mut both, 2), (3, 3));
    }
}
