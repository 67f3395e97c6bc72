//! Do the rows have the shares that `perf` gives them?

use std::collections::HashMap;

use transparency::programs::calls::Names;
use transparency::programs::profile::Callers;
use transparency::programs::run::Report;
use transparency::programs::statistics::{range, spearman};

use crate::Round;

/// Rows below this share are not ranked.
const RANKED: f64 = 0.01;
const ALL: f64 = 0.0;

/// Shares by the row's name.
type Shares = HashMap<String, f64>;

/// What is subtracted from self ticks: a part of what the row's probes cost, and a part of what its callees' probes cost.
const CORRECTIONS: [(&str, f64, f64); 3] = [
    ("as they are", 0.0, 0.0),
    ("less the row's probes", 1.0, 0.0),
    ("less 3/4 of these and 1/4 of the callees'", 0.75, 0.25),
];

pub(crate) fn print(rounds: &[Round], names: &Names, callers: &Callers) {
    let samples = |round: &Round| round.profile.values().sum::<f64>() / 1e3;
    println!(
        "| thousand samples of perf | {} |\n| … in functions without a row, % | {} |",
        range(rounds.iter().map(samples)),
        range(rounds.iter().map(|round| outside(round, names)))
    );
    println!(
        "\n| self ticks | rank correlation with perf, rows above 1 % | all runs in one | points in the wrong row, rows above 1 % | all runs in one | all rows, all runs in one | smallest row, % |\n|---|---|---|---|---|---|---|"
    );
    let perf: Vec<Shares> = rounds
        .iter()
        .map(|round| normalised(callers.by_row(&round.profile, names)))
        .collect();
    let perf_in_one = mean(&perf);
    print_control(rounds, &perf);
    let mut all = Vec::new();
    for (name, of_row, of_callees) in CORRECTIONS {
        let light: Vec<Shares> = rounds
            .iter()
            .map(|round| corrected(&round.report, of_row, of_callees))
            .collect();
        let in_one = mean(&light);
        let pairs = || light.iter().zip(&perf);
        let smallest =
            |shares: &Shares| 100.0 * shares.values().copied().fold(f64::INFINITY, f64::min);
        println!(
            "| {name} | {} | {:.3} | {} | {:.1} | {:.1} | {} |",
            range(pairs().map(|(light, perf)| rank_correlation(light, perf))),
            rank_correlation(&in_one, &perf_in_one),
            range(pairs().map(|(light, perf)| misplaced(light, perf, RANKED))),
            misplaced(&in_one, &perf_in_one, RANKED),
            misplaced(&in_one, &perf_in_one, ALL),
            range(light.iter().map(smallest)),
        );
        all.push(in_one);
    }
    print_rows(&perf_in_one, &all);
}

/// What chance alone does: as many samples of `perf` as the clock has ticked, compared with `perf`'s profile of another run.
fn print_control(rounds: &[Round], perf: &[Shares]) {
    let mut random = Random(1);
    let thinned: Vec<Shares> = rounds
        .iter()
        .zip(perf)
        .map(|(round, perf)| random.samples(perf, round.clock_ticks()))
        .collect();
    let in_one = (mean(&thinned), mean(perf));
    let others = perf.iter().cycle().skip(1);
    let pairs = || thinned.iter().zip(others.clone());
    println!(
        "| perf, as few samples, another run | {} | {:.3} | {} | {:.1} | {:.1} | – |",
        range(pairs().map(|(few, perf)| rank_correlation(few, perf))),
        rank_correlation(&in_one.0, &in_one.1),
        range(pairs().map(|(few, perf)| misplaced(few, perf, RANKED))),
        misplaced(&in_one.0, &in_one.1, RANKED),
        misplaced(&in_one.0, &in_one.1, ALL),
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

fn print_rows(perf: &Shares, light: &[Shares]) {
    let names: Vec<&str> = CORRECTIONS.iter().map(|(name, ..)| *name).collect();
    println!(
        "\n| % of self | perf | {} |\n|---|---|---|---|---|",
        names.join(" | ")
    );
    let mut rows: Vec<(&String, f64)> = perf
        .keys()
        .chain(light[0].keys())
        .map(|name| (name, share(perf, name)))
        .filter(|(name, of_perf)| of_perf.max(share(&light[0], name)) > RANKED)
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    rows.dedup();
    for (name, of_perf) in rows {
        let light: Vec<String> = light
            .iter()
            .map(|shares| format!("{:.1}", 100.0 * share(shares, name)))
            .collect();
        println!(
            "| {name} | {:.1} | {} |",
            100.0 * of_perf,
            light.join(" | ")
        );
    }
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

/// The rows' shares of the self ticks, less these parts of what the row's and its callees' probes cost.
fn corrected(report: &Report, of_row: f64, of_callees: f64) -> Shares {
    let mut names = Names::default();
    let mut shares = Shares::new();
    let mut probes = Shares::new();
    for row in &report.rows {
        let name = names.add(&row.module, &row.name);
        *shares.entry(name.clone()).or_default() += row.own - of_row * row.probe_ticks;
        *probes.entry(name).or_default() += row.probe_ticks;
    }
    if of_callees != 0.0 {
        for ((caller, callee), part) in parts_of_callers(report, &mut names) {
            if let Some(own) = shares.get_mut(&caller) {
                *own -= of_callees * part * share(&probes, &callee);
            }
        }
    }
    normalised(shares)
}

/// For each caller and callee: the part of the callee's inclusive ticks that was under this caller.
fn parts_of_callers(report: &Report, names: &mut Names) -> HashMap<(String, String), f64> {
    let (mut arcs, mut sums) = (HashMap::new(), Shares::new());
    for context in &report.contexts {
        let mut name = |(module, name): &(String, String)| names.add(module, name);
        let (caller, callee) = (name(&context.caller), name(&context.callee));
        *sums.entry(callee.clone()).or_default() += context.total;
        *arcs.entry((caller, callee)).or_default() += context.total;
    }
    for ((_, callee), part) in &mut arcs {
        *part /= share(&sums, callee).max(1.0);
    }
    arcs
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
