//! The figures of light probes, added up over threads.

use super::chains::{Chains, Node};
use crate::record::light::{Counts, LightSums, PathSums, PathTotals, ROOT};

/// Time by ticks of the clock. Inclusive time has no ticks of its own, and no squares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticked {
    /// In which the function was innermost.
    pub(crate) own: PathSums,
    /// In which the function was running.
    pub(crate) inclusive: PathSums,
}

/// The figures of a callsite.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LightRow {
    pub(crate) counts: Counts,
    /// The threads that called it.
    pub(crate) threads: u64,
    pub(crate) ticked: Ticked,
}

impl LightRow {
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.ticked.inclusive.is_empty()
    }
}

/// The figures of some threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct LightTotals {
    /// By callsite number.
    rows: Vec<LightRow>,
    contexts: Chains<Ticked>,
    /// Time outside of all annotated functions.
    pub(crate) outside: PathSums,
}

impl LightTotals {
    /// The row of a callsite number.
    pub(super) fn row(&mut self, number: u32) -> &mut LightRow {
        let index = number as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, LightRow::default);
        }
        &mut self.rows[index]
    }

    /// The figures of a callsite number, if it has any.
    pub(crate) fn get(&self, number: u32) -> Option<&LightRow> {
        let row = self.rows.get(number as usize)?;
        (!row.is_empty()).then_some(row)
    }

    /// The numbers of callsites that have figures.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        let rows = (0..).zip(&self.rows);
        rows.filter(|(_, row)| !row.is_empty())
            .map(|(number, _)| number)
    }

    pub(crate) fn contexts(&self) -> &[Node<Ticked>] {
        self.contexts.nodes()
    }

    /// Whether no light function has a call or a time.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.iter().all(LightRow::is_empty)
    }

    /// Adds a thread's figures.
    pub(super) fn add(&mut self, sums: &LightSums) {
        for (number, counts) in (0..).zip(&sums.counts) {
            if !counts.is_empty() {
                let row = self.row(number);
                row.counts.add(counts);
                row.threads += 1;
            }
        }
        let mut places = vec![None; sums.paths.len()];
        for (index, path) in sums.paths.iter().enumerate() {
            if path.sums.is_empty() {
                continue;
            }
            if index == ROOT.index() {
                self.outside.add(&path.sums);
                continue;
            }
            let own = self.context_of(index, &sums.paths, &mut places);
            self.at(own, |ticked| ticked.own.add(&path.sums));
            let mut chain = path.chain;
            while chain != ROOT.index() {
                let around = self.context_of(chain, &sums.paths, &mut places);
                self.at(around, |ticked| ticked.inclusive.add(&path.sums));
                chain = sums.paths[chain].outer;
            }
        }
    }

    /// Changes the figures of a context and of its callsite's row.
    fn at(&mut self, context: usize, change: impl Fn(&mut Ticked)) {
        let node = self.contexts.at(context);
        change(&mut node.sums);
        if let Some(number) = node.callsite {
            change(&mut self.row(number).ticked);
        }
    }

    /// The context of a place.
    fn context_of(
        &mut self,
        index: usize,
        paths: &[PathTotals],
        places: &mut [Option<usize>],
    ) -> usize {
        // From the place to the first caller that is known, and back.
        let extension = |index: usize| match paths[index].chain {
            chain if chain == index => index,
            _ => paths[index].outer,
        };
        let mut callers = vec![extension(index)];
        let mut parent = loop {
            let place = callers[callers.len() - 1];
            if let Some(known) = places[place] {
                callers.pop();
                break Some(known);
            }
            match paths[place].caller {
                root if root == ROOT.index() => break None,
                caller => callers.push(extension(caller)),
            }
        };
        while let Some(place) = callers.pop() {
            parent = Some(self.contexts.place(parent, paths[place].callsite));
            places[place] = parent;
        }
        parent.unwrap_or_default()
    }

    /// Adds the figures of other threads.
    pub(super) fn merge(&mut self, other: &Self) {
        for (number, row) in (0..).zip(&other.rows) {
            if !row.is_empty() {
                let own = self.row(number);
                own.counts.add(&row.counts);
                own.threads += row.threads;
                own.ticked.add(&row.ticked);
            }
        }
        self.contexts.merge(&other.contexts, Ticked::add);
        self.outside.add(&other.outside);
    }
}

impl Ticked {
    fn add(&mut self, other: &Self) {
        self.own.add(&other.own);
        self.inclusive.add(&other.inclusive);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::empty_calls::Light;
    use crate::record::callsite::{Callsite, meta};
    use crate::record::light::{Frame, Paths};

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

    fn totals(stacks: &[&[u32]]) -> LightTotals {
        let paths = Paths::new().unwrap();
        for stack in stacks {
            tick(&paths, stack);
        }
        let mut totals = LightTotals::default();
        totals.add(&LightSums {
            counts: Vec::new(),
            paths: paths.read(),
        });
        totals
    }

    /// The ticks in which a callsite was innermost, and thousands of ticks of the counter in which it was running.
    fn row(totals: &LightTotals, number: u32) -> (u64, i64) {
        let ticked = &totals.get(number).unwrap().ticked;
        (ticked.own.ticks, ticked.inclusive.on_cpu / 1000)
    }

    /// The chains of callsites, outermost first, with the same figures.
    fn contexts(totals: &LightTotals) -> Vec<(Vec<u32>, u64, i64)> {
        let chain = |context: &Node<Ticked>| {
            let mut chain = vec![context.callsite.unwrap()];
            let mut parent = context.parent;
            while let Some(index) = parent {
                chain.insert(0, totals.contexts()[index].callsite.unwrap());
                parent = totals.contexts()[index].parent;
            }
            let ticked = &context.sums;
            (chain, ticked.own.ticks, ticked.inclusive.on_cpu / 1000)
        };
        let mut contexts: Vec<_> = totals.contexts().iter().map(chain).collect();
        contexts.sort();
        contexts
    }

    #[test]
    fn chain_of_callers_is_a_context() {
        let totals = totals(&[&[], &[1], &[1, 2], &[1, 2], &[1, 3], &[1, 3, 2], &[2]]);
        assert_eq!(
            [1, 2, 3].map(|number| row(&totals, number)),
            [(1, 5), (4, 4), (1, 2)]
        );
        assert_eq!((totals.outside.ticks, totals.outside.on_cpu), (1, 1000));
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
        let totals = totals(&[&[1, 1, 1], &[1, 1, 2], &[1, 2, 2, 2], &[1]]);
        assert_eq!([1, 2].map(|number| row(&totals, number)), [(2, 4), (2, 2)]);
        assert_eq!(contexts(&totals), [(vec![1], 2, 4), (vec![1, 2], 2, 2)]);
    }

    #[test]
    fn function_runs_while_calls_inside_it_are_in_an_outer_context() {
        // A calls B, which calls A again, which calls C.
        let totals = totals(&[
            &[1, 2],
            &[1, 2, 1],
            &[1, 2, 1, 3],
            &[1, 3],
            &[1, 2, 1, 3, 2],
        ]);
        assert_eq!(
            [1, 2, 3].map(|number| row(&totals, number)),
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
        let totals = totals(&[&deep]);
        assert_eq!(
            [1, 2, 3].map(|number| row(&totals, number)),
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
        let mut totals = LightTotals::default();
        totals.add(&LightSums {
            counts: Vec::new(),
            paths: paths.read(),
        });
        let ticks: u64 = totals
            .contexts()
            .iter()
            .map(|context| context.sums.own.ticks)
            .sum();
        assert_eq!(ticks, 19_999);
        let other = totals
            .contexts()
            .iter()
            .find(|context| context.callsite.is_none());
        assert!(other.unwrap().sums.own.ticks > 3000);
    }

    #[test]
    fn time_is_divided_as_the_ticks_are() {
        let paths = Paths::new().unwrap();
        for stack in [&[][..], &[1], &[1], &[1, 2]] {
            tick(&paths, stack);
        }
        paths.divide(2002);
        let mut totals = LightTotals::default();
        totals.add(&LightSums {
            counts: Vec::new(),
            paths: paths.read(),
        });
        let own = [1, 2].map(|number| totals.get(number).unwrap().ticked.own.on_cpu);
        // What cannot be divided evenly is outside.
        assert_eq!(
            (totals.outside.on_cpu, own),
            (1000 + 501, [2000 + 1001, 1000 + 500])
        );
        Paths::new().unwrap().divide(5);
    }

    #[test]
    fn threads_add_up() {
        let (one, other) = (totals(&[&[1], &[1, 2]]), totals(&[&[2], &[1, 2], &[1, 3]]));
        let mut both = LightTotals::default();
        both.merge(&one);
        both.merge(&other);
        assert_eq!(
            contexts(&both),
            [
                (vec![1], 1, 4),
                (vec![1, 2], 2, 2),
                (vec![1, 3], 1, 1),
                (vec![2], 1, 1),
            ]
        );
        assert_eq!(row(&both, 2), (3, 3));
    }
}
