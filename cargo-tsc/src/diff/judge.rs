//! The verdict on each function.

use std::collections::{BTreeMap, BTreeSet};

use super::Policy;
use super::limits::{LEVEL, Limits, PARTS, Part, Test, same_code_differs};
use super::pairs::{self, Pair, Runs};
use super::reference::Reference;
use super::row::{Comparison, Row, Verdict};
use super::sides::{Sides, WHOLE};
use super::values::{SHARES, Values, values_of_both};
use crate::command_line::Metric;
use crate::session::Session;
use crate::statistics::{self, Shift, adjust};

/// A function that takes less time in a run, in seconds, is not judged if the sides were not measured in turns. A few page faults or a cold
/// cache, which depend on what ran before, are several per cent of it.
const SHORT: f64 = 100e-6;
/// The fewest pairs, or runs a side, for a verdict. If there are several orders of functions, the unit is an order, so it takes as many of these.
const LEAST: usize = 4;

/// Compares two sessions.
pub fn compare(before: &Session, after: &Session, policy: &Policy) -> Comparison {
    let both = [before, after];
    let hz = before.runs.first().and_then(|run| run.clock().hz());
    let mut sides = Sides {
        values: values_of_both(both, policy.metric()),
        runs: both.map(Runs::of),
        interleaved: before.is_in_turns_with(after),
        short: SHORT * hz.unwrap_or(0.0),
        is_per_call: policy.metric().is_per_call(),
    };
    if sides.interleaved && policy.metric() == Metric::SelfTime {
        sides.add_whole();
    }
    sides.compare(policy)
}

impl Sides {
    /// Judges each function.
    pub fn compare(&self, policy: &Policy) -> Comparison {
        let mut rows = self.rows(policy);
        let exact = policy.metric().is_count();
        let pairs = match self.interleaved {
            true => pairs::in_turns(&self.runs[0], &self.runs[1]),
            false => Vec::new(),
        };
        let orders: BTreeSet<u32> = pairs.iter().map(|pair| pair.2).collect();
        let runs = match self.interleaved {
            true => (pairs.len(), pairs.len()),
            false => (self.runs[0].places.len(), self.runs[1].places.len()),
        };
        let too_few = |units: usize| (!exact && units < LEAST).then_some(LEAST);
        let too_few_runs = too_few(runs.0.min(runs.1));
        let too_few_orders = too_few(orders.len()).filter(|_| orders.len() > 1);
        let mut same_code = [None; 2];
        let machine = (!exact && !self.interleaved).then(|| self.machine(&rows));
        let machine = machine.unwrap_or(0.0);
        if exact {
            rows.iter_mut().for_each(|row| self.count(row));
        } else if too_few_runs.or(too_few_orders).is_none() {
            same_code = self.judge(&mut rows, &pairs, machine);
        }
        // What a function has changed, it has changed in the whole.
        let verdicts: Vec<Verdict> = rows.iter().map(|row| row.verdict).collect();
        let is_alone = |verdict: Verdict| verdicts.iter().filter(|&&of| of == verdict).count() == 1;
        rows.retain(|row| {
            row.name != WHOLE || row.verdict == Verdict::NotResolved || is_alone(row.verdict)
        });
        rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        Comparison {
            rows,
            runs,
            interleaved: self.interleaved,
            orders: orders.len(),
            exact,
            same_code: same_code.map(|most| most.map(f64::exp_m1)),
            machine,
            too_few_runs,
            too_few_orders,
        }
    }

    fn rows(&self, policy: &Policy) -> Vec<Row> {
        let names: BTreeSet<&String> = self.values.iter().flat_map(BTreeMap::keys).collect();
        let nothing = Values::default();
        let row = |name: &String| {
            let [old, new] = [0, 1].map(|side| self.values[side].get(name).unwrap_or(&nothing));
            self.row(name, old, new, policy)
        };
        names.into_iter().map(row).collect()
    }

    /// A row without its test. If its verdict is `NotResolved`, it is tested afterwards.
    fn row(&self, name: &str, old: &Values, new: &Values, policy: &Policy) -> Row {
        let median = |values: &Values| {
            let runs = Some(&values.runs).filter(|_| !values.is_untimed);
            runs.and_then(|runs| statistics::median(runs))
        };
        let (before, after) = (median(old), median(new));
        let usable = |values: &Values| values.runs.iter().all(|&value| value > 0.0);
        let is_count = policy.metric().is_count();
        let share = old.share.max(new.share);
        let own = |values: &Values| statistics::median(&values.own).unwrap_or(0.0);
        let is_short = !self.interleaved && own(old).max(own(new)) < self.short;
        let verdict = match (before, after) {
            _ if policy.ignores(name) => Verdict::Ignored,
            _ if !is_count && (share < policy.min_share() || is_short) => Verdict::TooSmall,
            _ if old.is_untimed || new.is_untimed => Verdict::NotTimed,
            (None, _) => Verdict::New,
            (_, None) => Verdict::Gone,
            (Some(0.0), Some(0.0)) => Verdict::TooSmall,
            _ if !(is_count || usable(old) && usable(new)) => Verdict::NotPositive,
            _ => Verdict::NotResolved,
        };
        let ratio = before.zip(after).map(|(before, after)| after / before);
        let ratio = ratio.filter(|_| verdict != Verdict::NotPositive);
        Row {
            name: name.to_owned(),
            verdict,
            shortest: None,
            before,
            after,
            modes: [old, new].map(|values| statistics::modes(&values.runs)),
            ratio: ratio.filter(|ratio| ratio.is_finite()),
            interval: None,
            same_code: None,
            p: None,
            threshold: policy.threshold(name),
            visible: None,
            calls: (old.calls, new.calls),
            share: (old.share, new.share),
        }
    }

    /// Judges a count. Every call more is a change, unless the policy says how many are none.
    fn count(&self, row: &mut Row) {
        let runs = [0, 1].map(|side| self.values[side].get(&row.name));
        let varies = |values: &Values| values.runs.iter().any(|&run| run != values.runs[0]);
        let (Verdict::NotResolved, Some(before), Some(after)) =
            (row.verdict, row.before, row.after)
        else {
            return;
        };
        row.verdict = match row.threshold {
            _ if runs.into_iter().flatten().any(varies) => Verdict::Varies,
            least if after > before * (1.0 + least) => Verdict::Slower,
            least if after < before * (1.0 - least) => Verdict::Faster,
            _ => Verdict::NoChange,
        };
    }

    /// By what the machine may have changed between the sides: its core clock, and the time of the whole program. Where that is due to
    /// a few functions, which the code may have changed, it is the change of most functions instead, by the metric or by their own time:
    /// the total of a caller also changes with each of its callees.
    fn machine(&self, rows: &[Row]) -> f64 {
        let change = |of: fn(&Runs) -> Option<f64>| {
            let (before, after) = (of(&self.runs[0])?, of(&self.runs[1])?);
            Some((after / before).ln().abs()).filter(|change| change.is_finite())
        };
        let own = |values: &Values| {
            let calls = statistics::median(&values.called).filter(|_| self.is_per_call);
            Some(statistics::median(&values.own)? / calls.unwrap_or(1.0))
        };
        let own_ratio = |row: &Row| {
            let [before, after] = [0, 1].map(|side| self.values[side].get(&row.name).and_then(own));
            Some(after? / before?)
        };
        let of_most = |ratio: &dyn Fn(&Row) -> Option<f64>| {
            let rows = rows.iter();
            let judged = rows.filter(|row| row.verdict == Verdict::NotResolved);
            let changes =
                judged.filter_map(|row| Some(ratio(row)?.ln()).filter(|it| it.is_finite()));
            let middle = statistics::median(&Vec::from_iter(changes));
            middle.map_or(f64::INFINITY, f64::abs)
        };
        let whole = change(|runs| statistics::median(&runs.whole));
        let core_clock = change(|runs| runs.core_clock);
        let [whole, core_clock] = [whole, core_clock].map(Option::unwrap_or_default);
        let most = of_most(&|row| row.ratio).min(of_most(&own_ratio));
        whole.min(most).max(core_clock)
    }

    /// Judges times. Returns the greatest difference between runs of the same code in steady rows, of each part.
    fn judge(&self, rows: &mut [Row], pairs: &[Pair], machine: f64) -> [Option<f64>; 2] {
        let mut same_code = None;
        let is_judged = |&index: &usize| rows[index].verdict == Verdict::NotResolved;
        let judged = Vec::from_iter((0..rows.len()).filter(is_judged));
        let mut reference = Reference::of(self, judged.iter().map(|&index| &rows[index]), pairs);
        let mut changed: BTreeSet<usize> = BTreeSet::new();
        loop {
            let test = |(index, of): (usize, Part)| {
                let name = &rows[index].name;
                Some((index, self.test(name, of, pairs, machine, &reference)?))
            };
            let parts = judged.iter().flat_map(|&index| PARTS.map(|of| (index, of)));
            let tests: Vec<(usize, Test)> = parts.filter_map(test).collect();
            let p_values = tests.iter().map(|(_, test)| test.shift.p_value());
            let p_values = adjust(&p_values.collect::<Vec<f64>>());
            let limits = Limits {
                same_code: *same_code
                    .get_or_insert_with(|| PARTS.map(|of| same_code_differs(&tests, of))),
                level: LEVEL / tests.len().max(1) as f64,
            };
            let mut most = (0.0, None);
            for ((index, test), p) in tests.iter().zip(p_values) {
                if !changed.contains(index) {
                    let row = &mut rows[*index];
                    let is_found = limits.is_found(row, test, p)
                        && self.is_its_own(row, test, pairs, &reference, &limits);
                    let size = limits.judge(row, test, p, is_found);
                    if size > most.0 {
                        most = (size, Some(*index));
                    }
                }
            }
            match most.1 {
                Some(index) if !pairs.is_empty() => {
                    changed.insert(index);
                    reference.remove(&rows[index].name);
                }
                _ => return limits.same_code,
            }
        }
    }

    /// Whether a change is also one without any single large function of the rest. If only that one had changed, and this is not certain yet, all
    /// others would differ from the rest.
    fn is_its_own(
        &self,
        row: &Row,
        test: &Test,
        pairs: &[Pair],
        reference: &Reference,
        limits: &Limits,
    ) -> bool {
        let is_alone = test.of == Part::Shortest || pairs.is_empty();
        is_alone
            || reference.each_less(&row.name, self).all(|less| {
                let other = self.test(&row.name, test.of, pairs, 0.0, &less);
                other.is_some_and(|other| limits.confirms(row, test, &other))
            })
    }

    /// The test of a function, or of its shortest calls, if these have a time in each run. Among more calls, they are others.
    fn test(
        &self,
        name: &str,
        of: Part,
        pairs: &[Pair],
        machine: f64,
        reference: &Reference,
    ) -> Option<Test> {
        let values = [0, 1].map(|side| &self.values[side][name]);
        let shortest = usize::from(values.iter().any(|values| values.is_coarse));
        let share = [1.0, SHARES[shortest]][of as usize];
        let figures = values.map(|values| match of {
            Part::All => &values.runs[..],
            Part::Shortest => &values.shortest[shortest][..],
        });
        let is_known = |runs: &[f64]| !runs.is_empty() && runs.iter().all(|&run| run > 0.0);
        let are_others = pairs.is_empty() || values[0].calls != values[1].calls;
        if !figures.into_iter().all(is_known) || of == Part::Shortest && are_others {
            return None;
        }
        let weight = statistics::mean(figures[0]) / statistics::mean(&values[0].own) / share;
        let weight = [1.0, weight][of as usize];
        let rests = [0, 1].map(|side| reference.without(name, side, self));
        // What disturbs the rest of the program does not disturb the shortest calls.
        let is_relative = of == Part::All && !pairs.is_empty();
        let is_relative = is_relative && rests.iter().all(|rests| is_known(rests));
        let [old, new] = [0, 1].map(|side| {
            let runs = figures[side].iter().zip(&rests[side]);
            let runs = runs.map(|(run, rest)| if is_relative { run / rest } else { *run });
            runs.map(f64::ln).collect::<Vec<f64>>()
        });
        let shift = match pairs {
            [] => Shift::independent(&old, &new, machine),
            _ => pairs::shift(pairs, &old, &new),
        };
        let same = pairs::with_itself(&self.runs[0]);
        let raw = figures.map(|runs| statistics::median(runs).map_or(0.0, f64::ln));
        Some(Test {
            of,
            share,
            weight,
            shift: shift?,
            raw: raw[1] - raw[0],
            same_code: pairs::shift(&same, &old, &old).filter(|_| same.len() > 1),
            variance: pairs::variance(pairs),
        })
    }
}

/// The order of the rows: changed functions first, then by share of the time.
fn weight(row: &Row) -> f64 {
    let first = match row.verdict {
        Verdict::Slower | Verdict::Faster => 2.0,
        verdict if !verdict.is_judged() => -2.0,
        _ => 0.0,
    };
    first + row.share.0.max(row.share.1)
}
