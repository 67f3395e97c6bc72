//! Tests the verdicts on simulated runs, for which the true change is known. All seeds are fixed.

use std::collections::BTreeMap;

use super::Policy;
use super::pairs::Runs;
use super::print::counts;
use super::row::{Comparison, Row, Verdict, known_change};
use super::sides::{Sides, WHOLE};
use super::values::{SHARES, Values};

/// The number of functions in each simulated program.
const FUNCTIONS: usize = 12;
const RUNS: u32 = 10;
/// The function that is made slower.
const CHANGED: usize = 4;

/// xorshift64*, whose quality is enough for this.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Approximately normal, with standard deviation 1: the sum of twelve uniform numbers has variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// How simulated runs differ.
#[derive(Clone, Copy)]
struct Noise {
    /// The standard deviation of each function between runs.
    spread: f64,
    /// That of its shortest calls.
    shortest: f64,
    /// This share of all figures is too great by up to a half, as if another process had disturbed the run.
    disturbed: f64,
    /// The standard deviation of the speed of the machine between runs.
    speed: f64,
    /// The standard deviation of each function between orders of functions, on each side.
    layout: f64,
}

const QUIET: Noise = Noise {
    spread: 0.005,
    shortest: 0.005,
    disturbed: 0.0,
    speed: 0.0,
    layout: 0.0,
};
const LOADED: Noise = Noise {
    spread: 0.02,
    disturbed: 0.15,
    ..QUIET
};
const UNSTEADY: Noise = Noise {
    spread: 0.004,
    speed: 0.05,
    ..QUIET
};
const MOVED: Noise = Noise {
    spread: 0.003,
    layout: 0.1,
    ..QUIET
};

fn no_runs(interleaved: bool) -> Sides {
    Sides {
        values: [BTreeMap::new(), BTreeMap::new()],
        runs: [Runs::default(), Runs::default()],
        interleaved,
        short: 0.0,
        is_per_call: false,
    }
}

/// Adds a run of one side: what each function's calls took, and what they would take if all were as short as the shortest.
fn add_run(sides: &mut Sides, side: usize, round: u32, times: impl Iterator<Item = [f64; 2]>) {
    let mut whole = 0.0;
    for (function, [all, shortest]) in times.enumerate() {
        whole += all;
        let name = format!("app::f{function}");
        let entry = sides.values[side].entry(name);
        let entry = entry.or_insert_with(|| Values {
            calls: 1.0,
            share: 1.0,
            ..Values::default()
        });
        entry.runs.push(all);
        entry.own.push(all);
        for (runs, share) in entry.shortest.iter_mut().zip(SHARES) {
            runs.push(shortest * share);
        }
    }
    sides.runs[side].places.push((round, round));
    sides.runs[side].whole.push(whole);
}

/// Simulates a comparison in which some functions take `change` times as long after the change.
fn compared(
    random: &mut Random,
    noise: Noise,
    change: impl Fn(usize) -> f64,
    interleaved: bool,
) -> Comparison {
    simulated(random, noise, change, interleaved).compare(&Policy::default())
}

/// The runs of such a comparison.
fn simulated(
    random: &mut Random,
    noise: Noise,
    change: impl Fn(usize) -> f64,
    interleaved: bool,
) -> Sides {
    let mut sides = no_runs(interleaved);
    for round in 0..RUNS {
        let layouts = [0, 1].map(|_| [0; FUNCTIONS].map(|_| random.normal() * noise.layout));
        for side in [0, 1, 0] {
            let speed = random.normal() * noise.speed;
            let times = layouts[side].iter().enumerate().map(|(function, layout)| {
                let truth = 1e6 * (function + 1) as f64;
                let truth = truth * if side == 1 { change(function) } else { 1.0 };
                let truth = truth * (speed + layout).exp();
                let mut value = truth * (random.normal() * noise.spread).exp();
                if random.uniform() < noise.disturbed {
                    value *= 1.0 + random.uniform() / 2.0;
                }
                [value, truth * (random.normal() * noise.shortest).exp()]
            });
            add_run(&mut sides, side, round, times);
        }
    }
    sides
}

fn nothing(_: usize) -> f64 {
    1.0
}

fn planted(function: usize) -> f64 {
    planted_as(1.03)(function)
}

/// The change of each function, if the one that is changed takes so many times as long.
fn planted_as(change: f64) -> impl Fn(usize) -> f64 {
    move |function| if function == CHANGED { change } else { 1.0 }
}

/// The functions that the comparison reports as changed.
fn changed(comparison: &Comparison) -> Vec<&str> {
    let is_change = |row: &&Row| matches!(row.verdict, Verdict::Slower | Verdict::Faster);
    let rows = comparison.rows.iter().filter(is_change);
    rows.map(|row| row.name.as_str()).collect()
}

#[test]
fn nothing_changed_and_at_most_one_comparison_in_twenty_says_so() {
    for (noise, interleaved) in [
        (QUIET, false),
        (QUIET, true),
        (LOADED, false),
        (LOADED, true),
        (UNSTEADY, true),
        (MOVED, true),
    ] {
        let mut random = Random(0x5eed);
        let wrong = (0..200)
            .filter(|_| !changed(&compared(&mut random, noise, nothing, interleaved)).is_empty())
            .count();
        assert!(wrong <= 10, "{wrong} of 200; spread {}", noise.spread);
    }
}

#[test]
fn where_all_functions_are_slower_alike_the_others_are_still_compared_with_the_rest() {
    let mut random = Random(0xdad);
    let (mut whole, mut functions) = (0, 0);
    for _ in 0..100 {
        let mut sides = simulated(&mut random, QUIET, |_| 1.05, true);
        sides.add_whole();
        let comparison = sides.compare(&Policy::default());
        let changed = changed(&comparison);
        whole += usize::from(changed == [WHOLE]);
        functions += changed.iter().filter(|&&name| name != WHOLE).count();
    }
    // The shortest calls are not compared with the rest of the program, and may tell of one that they are slower.
    assert!(
        whole > 50 && functions < 50,
        "{whole} of 100, {functions} functions"
    );
}

#[test]
fn time_below_zero_in_a_run_is_not_judged_and_stays_a_row() {
    let mut sides = simulated(&mut Random(0xbad), QUIET, nothing, true);
    sides.values[1].get_mut("app::f4").unwrap().runs[3] = -7.0;
    let comparison = sides.compare(&Policy::default());
    let not_judged: Vec<_> = comparison.with(Verdict::NotPositive).collect();
    assert_eq!(not_judged.len(), 1);
    assert_eq!(not_judged[0].name, "app::f4");
    assert_eq!(comparison.with(Verdict::TooSmall).count(), 0);
}

#[test]
fn three_per_cent_in_one_function_are_found_and_nothing_else_is() {
    for noise in [QUIET, LOADED, UNSTEADY] {
        let mut random = Random(0xfeed);
        let right = (0..100)
            .filter(|_| changed(&compared(&mut random, noise, planted, true)) == ["app::f4"])
            .count();
        assert!(right >= 90, "{right} of 100; spread {}", noise.spread);
    }
}

/// The row of the function that is made slower.
fn planted_row(comparison: Comparison) -> Row {
    let mut rows = comparison.rows.into_iter();
    rows.find(|row| row.name == "app::f4").unwrap()
}

#[test]
fn the_shortest_calls_tell_what_all_do_not_and_the_figures_stay_those_of_all() {
    let mut random = Random(0xace);
    let (mut told, mut unknown) = (0, 0);
    for _ in 0..100 {
        let row = planted_row(compared(&mut random, LOADED, planted, true));
        let (low, high) = row.interval.unwrap();
        if let Some((_, shortest)) = row.shortest {
            told += 1;
            unknown += usize::from(row.ratio.is_none());
            assert_eq!(row.verdict, Verdict::Slower);
            assert!(
                (shortest - 1.03).abs() < 0.01 && high - low > 0.03,
                "{row:?}"
            );
            assert!(row.ratio.is_none_or(|ratio| ratio > 1.0 && ratio < high));
        }
    }
    assert!(told > 80 && unknown < 30, "{told} and {unknown} of 100");
}

#[test]
fn the_threshold_is_of_the_whole_function() {
    // The shortest quarter takes a tenth of the time, so 2 % of it is 0.8 % of all if the others take as many ticks longer.
    for (change, verdict) in [(1.02, Verdict::NotResolved), (1.05, Verdict::Slower)] {
        let mut sides = simulated(&mut Random(0xfad), LOADED, nothing, true);
        for side in [0, 1] {
            let values = sides.values[side].get_mut("app::f4").unwrap();
            let change = if side == 0 { 0.4 } else { 0.4 * change };
            let shortest = values.shortest.iter_mut().flatten();
            shortest.for_each(|ticks| *ticks *= change);
        }
        let row = planted_row(sides.compare(&Policy::default()));
        assert_eq!(row.verdict, verdict, "{row:?}");
    }
}

#[test]
fn the_shortest_of_more_calls_tell_nothing() {
    let sides = |calls: f64| {
        let mut sides = simulated(&mut Random(0xbad), LOADED, nothing, true);
        let values = sides.values[1].get_mut("app::f4").unwrap();
        values.calls = calls;
        values
            .shortest
            .iter_mut()
            .flatten()
            .for_each(|ticks| *ticks *= 0.5);
        sides.compare(&Policy::default())
    };
    assert_eq!(planted_row(sides(1.0)).verdict, Verdict::Faster);
    assert_eq!(planted_row(sides(2.0)).verdict, Verdict::NotResolved);
}

#[test]
fn where_the_shortest_calls_are_too_coarse_more_of_them_are_compared() {
    for (is_coarse, shortest) in [(false, None), (true, Some(SHARES[1]))] {
        let mut sides = simulated(&mut Random(0xcab), LOADED, nothing, true);
        for side in &mut sides.values {
            side.get_mut("app::f4").unwrap().is_coarse = is_coarse;
        }
        let slower = sides.values[1].get_mut("app::f4").unwrap();
        let half = slower.shortest[1].iter_mut();
        half.for_each(|ticks| *ticks *= 1.03);
        let row = planted_row(sides.compare(&Policy::default()));
        assert_eq!(row.verdict == Verdict::Slower, is_coarse, "{row:?}");
        assert_eq!(row.shortest.map(|(share, _)| share), shortest);
    }
}

/// The runs of a comparison in which one function is slower by 1.5 %, and the time of all its calls varies by `spread`. All others are as fast as
/// before, but differ between two runs of the same code by `same_code`: all calls, and the shortest. Nothing is random.
fn scripted(spread: f64, same_code: [f64; 2]) -> Sides {
    let mut sides = no_runs(true);
    for round in 0..RUNS {
        for (side, place) in [(0, -0.5), (1, 0.0), (0, 0.5)] {
            let times = (0..=FUNCTIONS).map(|function| {
                // As many differ upwards as downwards.
                let sign = [1.0, -1.0][function % 2];
                let mut change = same_code.map(|part| part * sign * place);
                if function == CHANGED {
                    let slower = 1.015_f64.ln() * side as f64;
                    let varies = [spread, -spread][round as usize % 2] * side as f64;
                    change = [slower + varies, slower];
                }
                let error = f64::from((round + function as u32) % 4) * place * 1e-4;
                change.map(|change| 1e6 * (change + error).exp())
            });
            add_run(&mut sides, side, round, times);
        }
    }
    sides
}

#[test]
fn what_the_same_code_shows_in_all_calls_limits_these_and_in_the_shortest_those() {
    const LITTLE: f64 = 0.001;
    const MUCH: f64 = 0.02;
    for (spread, same_code, verdict, is_of_shortest) in [
        (0.1, [LITTLE, LITTLE], Verdict::Slower, true),
        (0.1, [MUCH, LITTLE], Verdict::Slower, true),
        // All calls vary between the orders of functions, and not within them.
        (0.1, [LITTLE, MUCH], Verdict::Layout, false),
        (0.0, [LITTLE, MUCH], Verdict::Slower, false),
        (0.0, [MUCH, LITTLE], Verdict::Slower, true),
        (0.0, [MUCH, MUCH], Verdict::NotResolved, false),
    ] {
        let comparison = scripted(spread, same_code).compare(&Policy::default());
        for (stated, truth) in comparison.same_code.iter().zip(same_code) {
            let ratio = stated.unwrap() / truth;
            assert!((0.8..1.4).contains(&ratio), "{ratio} of {truth}");
        }
        assert_eq!(
            changed(&comparison).len(),
            usize::from(verdict == Verdict::Slower)
        );
        let row = planted_row(comparison);
        assert_eq!(
            (row.verdict, row.shortest.is_some()),
            (verdict, is_of_shortest),
            "{same_code:?}: {row:?}"
        );
    }
}

#[test]
fn first_line_has_the_verdicts_by_the_names_in_the_table() {
    let comparison = scripted(0.1, [0.001, 0.02]).compare(&Policy::default());
    assert!(
        counts(&comparison).contains(&"1 layout".to_owned()),
        "{:?}",
        counts(&comparison)
    );
}

#[test]
fn where_the_shortest_calls_are_not_known_nothing_is_said_of_them() {
    let mut sides = scripted(0.0, [0.001, 0.02]);
    for values in sides.values.iter_mut().flat_map(BTreeMap::values_mut) {
        values.shortest.iter_mut().for_each(|runs| runs.fill(0.0));
    }
    let comparison = sides.compare(&Policy::default());
    assert!(matches!(comparison.same_code, [Some(_), None]));
    assert_eq!(changed(&comparison), ["app::f4"]);
}

#[test]
fn the_shortest_calls_do_not_overrule_what_all_calls_say() {
    let noise = Noise {
        spread: 0.04,
        ..QUIET
    };
    for (change, verdict) in [(1.0, Verdict::Slower), (0.93, Verdict::NotResolved)] {
        let mut sides = simulated(&mut Random(0xfab), noise, planted_as(change), true);
        let values = sides.values[1].get_mut("app::f4").unwrap();
        values
            .shortest
            .iter_mut()
            .flatten()
            .for_each(|ticks| *ticks *= 1.2);
        let row = planted_row(sides.compare(&Policy::default()));
        assert_eq!(row.verdict, verdict, "{row:?}");
    }
}

#[test]
fn what_noise_hides_is_not_resolved_and_what_would_have_been_seen_is_said() {
    let noise = Noise {
        spread: 0.1,
        shortest: 0.1,
        ..QUIET
    };
    let mut random = Random(0xbeef);
    let mut found = 0;
    for _ in 0..100 {
        let row = planted_row(compared(&mut random, noise, planted, true));
        assert!(row.verdict != Verdict::NoChange, "{row:?}");
        let visible = row.visible.unwrap();
        assert!((0.05..1.0).contains(&visible), "{row:?}");
        // A change of that size is found in most cases.
        let change = planted_as(1.0 + visible);
        let row = planted_row(compared(&mut random, noise, change, true));
        found += usize::from(row.verdict == Verdict::Slower);
    }
    assert!((82..=100).contains(&found), "{found} of 100");
}

#[test]
fn what_would_have_been_seen_exceeds_the_threshold_by_the_error() {
    let noise = Noise {
        spread: 0.001,
        ..QUIET
    };
    let mut random = Random(0xbed);
    let mut of_all = |change: f64| {
        let mut sides = simulated(&mut random, noise, planted_as(change), true);
        for values in sides.values.iter_mut().flat_map(BTreeMap::values_mut) {
            values.shortest.iter_mut().for_each(|runs| runs.fill(0.0));
        }
        planted_row(sides.compare(&Policy::default()))
    };
    let mut found = 0;
    for _ in 0..100 {
        let visible = of_all(1.0).visible.unwrap();
        // The threshold is 1 %.
        assert!((0.01..0.02).contains(&visible), "{visible}");
        found += usize::from(of_all(1.0 + visible).verdict == Verdict::Slower);
    }
    assert!(found >= 82, "{found} of 100");
}

#[test]
fn a_function_that_takes_half_of_the_time_does_not_make_the_others_faster() {
    let change = |function: usize| if function >= 8 { 1.2 } else { 1.0 };
    let mut random = Random(0xabcd);
    for _ in 0..20 {
        let comparison = compared(&mut random, UNSTEADY, change, true);
        let mut named = changed(&comparison);
        named.sort_unstable();
        assert_eq!(named, ["app::f10", "app::f11", "app::f8", "app::f9"]);
    }
}

#[test]
fn a_change_that_is_not_certain_is_not_taken_for_one_of_the_others() {
    // The shortest calls tell nothing here: they vary more than all do.
    let noise = Noise {
        spread: 0.04,
        shortest: 0.1,
        ..QUIET
    };
    // Few functions, of which the changed one is most of what the others are compared with.
    let few = ["app::f1", "app::f2", "app::f3", "app::f4", "app::f11"];
    for factor in [1.1, 1.0 / 1.1] {
        let change = |function: usize| if function == 11 { factor } else { 1.0 };
        let mut random = Random(0xfade);
        let mut wrong = 0;
        for _ in 0..200 {
            let mut sides = simulated(&mut random, noise, change, true);
            for (values, runs) in sides.values.iter_mut().zip(&mut sides.runs) {
                values.retain(|name, _| few.contains(&&name[..]));
                let own = |run: usize| values.values().map(|values| values.own[run]).sum();
                runs.whole = (0..runs.whole.len()).map(own).collect();
            }
            let comparison = sides.compare(&Policy::default());
            let others = |name: &&str| *name != "app::f11";
            wrong += usize::from(changed(&comparison).iter().any(others));
        }
        assert!(wrong <= 10, "{factor}: {wrong} of 200");
    }
}

/// What changes in many comparisons in which no function does, after the figures of each have been edited.
fn changed_after(edit: impl Fn(&mut Sides), policy: &Policy) -> Vec<String> {
    let mut random = Random(0xace);
    let comparisons = (0..20).map(|_| {
        let mut sides = simulated(&mut random, UNSTEADY, nothing, true);
        edit(&mut sides);
        sides.add_whole();
        sides.compare(policy)
    });
    let all = comparisons.flat_map(|comparison| {
        let names = changed(&comparison).into_iter().map(str::to_owned);
        names.collect::<Vec<_>>()
    });
    all.filter(|name| name != WHOLE).collect()
}

#[test]
fn the_others_are_compared_with_nothing_that_is_on_one_side_alone() {
    for (side, function) in [(0, "app::f11"), (1, "app::f11"), (0, "app::f2")] {
        let edit = |sides: &mut Sides| {
            let gone = sides.values[side].remove(function).unwrap();
            let whole = sides.runs[side].whole.iter_mut();
            whole.zip(gone.own).for_each(|(whole, own)| *whole -= own);
        };
        let changed = changed_after(edit, &Policy::default());
        assert!(changed.len() <= 2, "{function}: {changed:?}");
    }
}

/// Makes the program take so many times as long without any function.
fn add_outside(sides: &mut Sides, times: [f64; 2]) {
    for (runs, times) in sides.runs.iter_mut().zip(times) {
        runs.whole.iter_mut().for_each(|whole| *whole *= times);
    }
}

#[test]
fn the_others_are_not_compared_with_code_outside_functions_that_changed() {
    for times in [[1.5, 2.5], [2.5, 1.5], [1.0, 1.5], [1.5, 1.0]] {
        let edit = |sides: &mut Sides| add_outside(sides, times);
        let changed = changed_after(edit, &Policy::default());
        assert!(changed.len() <= 2, "{times:?}: {changed:?}");
    }
}

#[test]
fn code_outside_functions_tells_how_fast_the_machine_was() {
    // One of two functions is slower, and both are little of the program.
    let noise = Noise {
        speed: 0.2,
        ..UNSTEADY
    };
    let mut random = Random(0xcade);
    for _ in 0..20 {
        let mut sides = simulated(&mut random, noise, planted, true);
        for side in [0, 1] {
            let values = &mut sides.values[side];
            values.retain(|name, _| ["app::f3", "app::f4"].contains(&&name[..]));
        }
        sides.add_whole();
        let comparison = sides.compare(&Policy::default());
        assert_eq!(changed(&comparison), ["app::f4"]);
    }
}

#[test]
fn the_others_are_not_compared_with_what_is_ignored() {
    let mut policy = Policy::default();
    policy.ignore("f11");
    let edit = |sides: &mut Sides| {
        let ignored = sides.values[1].get_mut("app::f11").unwrap();
        for (own, whole) in ignored.own.iter_mut().zip(&mut sides.runs[1].whole) {
            *whole += *own;
            *own *= 2.0;
        }
        ignored.runs = ignored.own.clone();
    };
    let changed = changed_after(edit, &policy);
    assert!(changed.len() <= 2, "{changed:?}");
}

#[test]
fn calls_of_a_function_that_are_more_do_not_make_those_of_others_faster() {
    let edit = |sides: &mut Sides| {
        sides.is_per_call = true;
        for (side, values) in sides.values.iter_mut().enumerate() {
            for (name, values) in values {
                let calls = [10.0, 20.0][usize::from(side == 1 && name == "app::f11")];
                values.calls = calls;
                values.called = vec![calls; values.runs.len()];
                values.own.iter_mut().for_each(|own| *own *= calls);
            }
        }
        for (runs, values) in sides.runs.iter_mut().zip(&sides.values) {
            let own = |run| values.values().map(|values| values.own[run]).sum();
            runs.whole = (0..runs.whole.len()).map(own).collect();
        }
    };
    let changed = changed_after(edit, &Policy::default());
    assert!(changed.len() <= 2, "{changed:?}");
}

#[test]
fn what_only_the_order_of_functions_makes_is_not_called_slower() {
    let mut random = Random(0xdcba);
    let (mut layouts, mut wrong) = (0, 0);
    for _ in 0..20 {
        let comparison = compared(&mut random, MOVED, nothing, true);
        wrong += changed(&comparison).len();
        let rows = comparison.rows.iter();
        layouts += rows.filter(|row| row.verdict == Verdict::Layout).count();
    }
    assert!(layouts > 50 && wrong <= 1, "{layouts} and {wrong} of 240");
}

#[test]
fn two_or_three_orders_of_functions_are_too_few_for_a_verdict() {
    for (orders, is_judged) in [(1, true), (2, false), (3, false), (4, true)] {
        let mut sides = simulated(&mut Random(0xace), QUIET, |_| 1.0, true);
        let places = sides.runs.iter_mut().flat_map(|runs| &mut runs.places);
        places.for_each(|place| place.1 %= orders);
        let comparison = sides.compare(&Policy::default());
        let text = comparison.too_few().unwrap_or_default();
        assert_eq!(text.contains("--links"), !is_judged, "{text}");
        let rows = &comparison.rows;
        assert!(rows.iter().all(|row| row.visible.is_some() == is_judged));
    }
}

#[test]
fn what_is_visible_beyond_ten_times_the_time_is_not_known() {
    assert_eq!(known_change(8.9), Some(8.9));
    assert_eq!([9.1, f64::INFINITY].map(known_change), [None, None]);
}

#[test]
fn a_machine_that_changed_between_the_sides_is_not_blamed_on_the_code() {
    let mut random = Random(0xcafe);
    let comparison = compared(&mut random, QUIET, |_| 1.05, false);
    assert_eq!(changed(&comparison), [""; 0]);
    assert!((0.04..0.06).contains(&comparison.machine));
    // In turns it is the code.
    let comparison = compared(&mut random, QUIET, |_| 1.05, true);
    assert!(comparison.machine == 0.0);
}

#[test]
fn callers_of_a_faster_function_are_not_the_machine() {
    let mut sides = simulated(&mut Random(0xface), QUIET, |_| 1.0, false);
    // The last function takes less, and the totals of its callers contain it.
    let faster = |all: &mut [f64]| all.iter_mut().for_each(|time| *time *= 0.1);
    for (name, values) in &mut sides.values[1] {
        if !["app::f0", "app::f1", "app::f2"].contains(&name.as_str()) {
            faster(&mut values.runs);
        }
        if name == "app::f11" {
            faster(&mut values.own);
        }
    }
    faster(&mut sides.runs[1].whole);
    let comparison = sides.compare(&Policy::default());
    assert_eq!(changed(&comparison).len(), 9);
    assert!(comparison.machine < 0.03, "{}", comparison.machine);
}

#[test]
fn a_function_that_takes_half_of_the_time_is_not_the_machine() {
    let last_is_faster = |function: usize| if function == 11 { 0.1 } else { 1.0 };
    let comparison = compared(&mut Random(0xfade), QUIET, last_is_faster, false);
    assert_eq!(changed(&comparison), ["app::f11"]);
    assert!(comparison.machine < 0.03, "{}", comparison.machine);
}
