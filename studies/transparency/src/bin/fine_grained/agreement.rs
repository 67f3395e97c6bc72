//! Do the rows have the shares that `perf` gives them?

use std::collections::{HashMap, HashSet};

use transparency::programs::calls::Names;
use transparency::programs::profile::Callers;
use transparency::programs::run::{Report, Row};
use transparency::programs::statistics::{range, spearman};

use crate::Round;

/// Rows below this share are not ranked.
const RANKED: f64 = 0.01;
const ALL: f64 = 0.0;
/// What a call of a long function takes itself, in ns. Below, it depends on the order in which the core completes instructions which function
/// a sample finds.
const LONG: f64 = 4.0;

/// Shares by the row's name.
type Shares = HashMap<String, f64>;

/// Compares with `perf`'s profile of the functions that are not inlined. `callers` and `callers_of_light` are those of that program and of the
/// light one.
pub(crate) fn print(
    rounds: &[Round],
    names: &Names,
    callers: &Callers,
    callers_of_light: &Callers,
) {
    let samples = |round: &Round| round.profile.values().sum::<f64>() / 1e3;
    println!(
        "| thousand samples of perf | {} |\n| … in functions without a row, % | {} |",
        range(rounds.iter().map(samples)),
        range(rounds.iter().map(|round| outside(round, names)))
    );
    println!(
        "\n| shares of the rows | rank correlation with perf, rows above 1 % | all runs in one | points in the wrong row, rows above 1 % | all runs in one | all rows, all runs in one | smallest row, % |\n|---|---|---|---|---|---|---|"
    );
    let of = |shares: &dyn Fn(&Round) -> Shares| -> Vec<Shares> {
        rounds
            .iter()
            .map(|round| normalised(shares(round)))
            .collect()
    };
    let perf = of(&|round| callers.by_row(&round.profile, names));
    let perf_of_light = of(&|round| callers_of_light.by_row(&round.profile_of_light, names));
    // What chance alone does: as many samples of `perf` as the clock has ticked, compared with another run.
    let mut random = Random(1);
    let few: Vec<Shares> = rounds
        .iter()
        .zip(perf.iter().cycle().skip(1))
        .map(|(round, perf)| random.samples(perf, round.clock_ticks()))
        .collect();
    print_line("perf, as few samples, another run", &few, &perf);
    // What the probes do to the program, and what their figures do not say of it.
    print_line("perf of the light program", &perf_of_light, &perf);
    let with_probes = of(&|round| shares(&round.report, |row| row.own + row.subtracted));
    print_line(
        "self ticks with probes, against perf of the light program",
        &with_probes,
        &perf_of_light,
    );
    print_line("self ticks with probes", &with_probes, &perf);
    let own = of(&|round| shares(&round.report, |row| row.own));
    print_line("self ticks", &own, &perf);
    let long = |of: &[Shares]| -> Vec<Shares> {
        let rounds = rounds.iter().zip(&perf).zip(of);
        let long = rounds.map(|((round, perf), of)| {
            let is_long = long_functions(round, perf, names);
            let rows = of.iter().filter(|(name, _)| is_long.contains(*name));
            rows.map(|(name, share)| (name.clone(), *share)).collect()
        });
        long.collect()
    };
    print_line(
        "self ticks, functions of 4 ns a call and more",
        &long(&own),
        &long(&perf),
    );
    print_rows(&[
        ("perf", mean(&perf)),
        ("perf of the light program", mean(&perf_of_light)),
        ("self ticks with probes", mean(&with_probes)),
        ("self ticks", mean(&own)),
    ]);
}

/// Compares the shares of each run with others of the same round.
fn print_line(name: &str, these: &[Shares], others: &[Shares]) {
    let pairs = || these.iter().zip(others);
    let (this, other) = (mean(these), mean(others));
    let smallest = |shares: &Shares| 100.0 * shares.values().copied().fold(f64::INFINITY, f64::min);
    println!(
        "| {name} | {} | {:.3} | {} | {:.1} | {:.1} | {} |",
        range(pairs().map(|(this, other)| rank_correlation(this, other))),
        rank_correlation(&this, &other),
        range(pairs().map(|(this, other)| misplaced(this, other, RANKED))),
        misplaced(&this, &other, RANKED),
        misplaced(&this, &other, ALL),
        range(these.iter().map(smallest)),
    );
}

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    /// So many samples of a profile, drawn at random: their shares.
    fn samples(&mut self, of: &Shares, count: u64) -> Shares {
        let mut rows: Vec<(&String, f64)> = of.iter().map(|(name, share)| (name, *share)).collect();
        rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let mut drawn = Shares::new();
        for _ in 0..count {
            let mut left = self.next();
            let row = rows.iter().find(|(_, share)| {
                left -= share;
                left < 0.0
            });
            let (name, _) = row.unwrap_or(&rows[0]);
            *drawn.entry((*name).clone()).or_default() += 1.0;
        }
        normalised(drawn)
    }

    /// In 0..1.
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn print_rows(columns: &[(&str, Shares)]) {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    println!(
        "\n| % | {} |\n|---{}|",
        names.join(" | "),
        "|---".repeat(names.len())
    );
    let mut rows: Vec<&String> = columns
        .iter()
        .flat_map(|(_, shares)| shares.iter().filter(|(_, share)| **share > RANKED))
        .map(|(name, _)| name)
        .collect();
    let of_perf = |name: &String| share(&columns[0].1, name);
    rows.sort_by(|a, b| of_perf(b).total_cmp(&of_perf(a)).then(a.cmp(b)));
    rows.dedup();
    for name in rows {
        let shares = columns
            .iter()
            .map(|(_, shares)| format!("{:.1}", 100.0 * share(shares, name)));
        println!("| {name} | {} |", shares.collect::<Vec<_>>().join(" | "));
    }
}

/// The rows whose calls take [`LONG`] themselves, by `perf`'s shares.
fn long_functions(round: &Round, perf: &Shares, names: &Names) -> HashSet<String> {
    let took = round.not_inlined.took * (1.0 - outside(round, names) / 100.0);
    let calls = shares(&round.report, |row| row.calls as f64);
    let all = round.report.calls() as f64;
    let is_long = |(name, calls): &(String, f64)| share(perf, name) * took >= LONG * calls * all;
    let long = calls.into_iter().filter(is_long);
    long.map(|(name, _)| name).collect()
}

fn share(shares: &Shares, name: &str) -> f64 {
    shares.get(name).copied().unwrap_or(0.0)
}

/// How much of the samples is in functions without a row, in %.
fn outside(round: &Round, names: &Names) -> f64 {
    let (mut outside, mut all) = (0.0, 0.0);
    for (function, samples) in &round.profile {
        all += samples;
        if names.find_around(function).is_none() {
            outside += samples;
        }
    }
    100.0 * outside / all
}

/// The rows' shares of what `of` tells of each.
fn shares(report: &Report, of: fn(&Row) -> f64) -> Shares {
    let mut names = Names::default();
    let mut shares = Shares::new();
    for row in &report.rows {
        let name = names.add(&row.module, &row.name);
        *shares.entry(name).or_default() += of(row);
    }
    normalised(shares)
}

fn normalised(mut shares: Shares) -> Shares {
    let sum: f64 = shares.values().sum();
    for share in shares.values_mut() {
        *share /= sum;
    }
    shares
}

fn mean(of: &[Shares]) -> Shares {
    let mut sums = Shares::new();
    for (name, share) in of.iter().flatten() {
        *sums.entry(name.clone()).or_default() += share;
    }
    normalised(sums)
}

fn rank_correlation(light: &Shares, perf: &Shares) -> f64 {
    let ranked = perf.iter().filter(|(_, share)| **share > RANKED);
    let pairs: Vec<(f64, f64)> = ranked
        .map(|(name, of_perf)| (share(light, name), *of_perf))
        .collect();
    spearman(&pairs)
}

/// Of 100 points: how many are in another row than `perf`'s, among the rows that have more than the `least` share in either.
fn misplaced(light: &Shares, perf: &Shares, least: f64) -> f64 {
    let both = light
        .keys()
        .filter(|name| !perf.contains_key(*name))
        .chain(perf.keys());
    let differences = both
        .map(|name| (share(light, name), share(perf, name)))
        .filter(|(light, perf)| light.max(*perf) > least)
        .map(|(light, perf)| (light - perf).abs());
    100.0 * differences.sum::<f64>() / 2.0
}
