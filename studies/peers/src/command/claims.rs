//! The claims of this crate, and whether the run confirms them.

use super::build::{self, Built};
use super::roster::Kind;
use super::rounds::{Rounds, of};
use super::spread::{Spread, cell};

/// Those that a build is to be better than.
const BESIDE: [&str; 4] = ["hotpath", "tracing + tracing-timing", "puffin", "fastrace"];

type Measure<'a> = &'a dyn Fn(&Built) -> Option<f64>;

#[derive(Default)]
pub(crate) struct Claims(Vec<String>);

impl Claims {
    pub(crate) fn burst(&mut self, all: &[Rounds]) {
        self.beside(
            all,
            "`none` ÷ hotpath, in a burst",
            ["cycles_none", "hotpath"],
            "own",
            0.9,
        );
        let others = all
            .iter()
            .filter(|one| !matches!(one.contestant.kind, Kind::Ours | Kind::Slow));
        let best = others
            .filter_map(|one| Some((one, error(one)?)))
            .min_by(|one, other| one.1.total_cmp(&other.1));
        let ours = of(all, "cycles_lfence").and_then(error);
        let name = best.map_or("", |(other, _)| other.contestant.label);
        let ratio = ours.zip(best).map(|(ours, (_, theirs))| {
            let ratio = ours / theirs;
            (
                ratio <= 0.33,
                format!("{ratio:.2} ({ours:.1} ns, {theirs:.1} ns)"),
            )
        });
        let claim = format!("error, default fence ÷ the best of the others ({name})");
        self.add(&claim, "≤ 0.33", ratio);
    }

    pub(crate) fn sustained(&mut self, all: &[Rounds]) {
        self.beside(
            all,
            "`none` ÷ hotpath, all in",
            ["cycles_none", "hotpath"],
            "cpu",
            0.3,
        );
        let cheapest = all
            .iter()
            .filter(|one| {
                one.contestant.kind == Kind::Peer
                    && one.figure("lost").is_some_and(|lost| lost.median <= 0.0)
            })
            .filter_map(|one| Some((one.contestant, one.figure("cpu")?.median)))
            .min_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((peer, _)) = cheapest {
            let claim = format!(
                "`none` ÷ the cheapest peer that aggregates every call ({}), all in",
                peer.label
            );
            self.beside(all, &claim, ["cycles_none", peer.name], "cpu", 1.0);
        }
        self.beside(
            all,
            "default fence ÷ hotpath, over ten million calls",
            ["cycles_lfence", "hotpath"],
            "wall",
            0.45,
        );
        let ours = of(all, "cycles_lfence");
        for (claim, key) in [
            ("calls lost, default fence", "lost"),
            ("bytes of memory that a call leaves, default fence", "grown"),
        ] {
            let most = ours.and_then(|ours| Some(ours.figure(key)?.high));
            let found = most.map(|most| (most < 0.05, format!("{most:.1}")));
            self.add(claim, "0", found);
        }
    }

    pub(crate) fn build(&mut self, all: &[&Built]) {
        let named = |label: &str| all.iter().copied().find(|built| built.label == label);
        let code = |built: &Built| Some(built.added(named("bare")?)?.code);
        let ours = named("**cycles**");
        let added = ours.and_then(code);
        let found = added.map(|bytes| (bytes.round() <= 160.0, format!("{bytes:.0}")));
        self.add("code that an annotation adds, in bytes", "≤ 160", found);
        let all_bytes = |built: &Built| Some(built.added(named("bare")?)?.sum());
        let dependencies = |built: &Built| Some(built.dependencies as f64);
        let measures: [(&str, Measure<'_>, usize); 5] = [
            ("code that an annotation adds", &code, 0),
            ("code, data and tables that it adds", &all_bytes, 0),
            (
                "CPU time of a build of 500 functions",
                &|built| Some(build::cpu(&built.build)?.median),
                2,
            ),
            ("dependencies", &dependencies, 0),
            (
                "CPU time of a clean build",
                &|built| Some(build::cpu(&built.clean)?.median),
                1,
            ),
        ];
        for (what, measure, places) in measures {
            let found = ours.and_then(measure).map(|own| {
                let others = BESIDE.map(|label| named(label).and_then(measure));
                let told = others.map(|other| {
                    other.map_or("–".to_owned(), |other| format!("{other:.places$}"))
                });
                let least = others.iter().flatten().all(|other| own < *other);
                (least, format!("{own:.places$}; {}", told.join(", ")))
            });
            let claim = format!("{what}; hotpath's, tracing's, puffin's, fastrace's");
            self.add(&claim, "less than each", found);
        }
    }

    /// Bytes of this crate's that differ.
    pub(crate) fn off(&mut self, how: &str, bytes: Result<usize, String>) {
        let found = bytes.ok().map(|bytes| (bytes == 0, bytes.to_string()));
        let claim = format!("machine code that differs, in bytes, off by {how}");
        self.add(&claim, "0", found);
    }

    /// The ratio of a figure of two contestants, round by round.
    fn beside(&mut self, all: &[Rounds], claim: &str, names: [&str; 2], key: &str, most: f64) {
        let [ours, theirs] = names.map(|name| of(all, name).map(|rounds| &rounds.figures));
        let ratios = ours.zip(theirs).map(|(ours, theirs)| {
            let pairs = ours.iter().zip(theirs);
            pairs
                .filter_map(|(ours, theirs)| Some(ours.get(key)? / theirs.get(key)?))
                .collect()
        });
        let found = ratios
            .and_then(Spread::of)
            .map(|ratio| (ratio.median <= most, cell(Some(ratio), 2)));
        self.add(claim, &format!("≤ {most}"), found);
    }

    fn add(&mut self, claim: &str, must: &str, found: Option<(bool, String)>) {
        let (met, is) = match found {
            Some((true, is)) => ("met", is),
            Some((false, is)) => ("**not met**", is),
            None => ("not measured", "–".to_owned()),
        };
        self.0.push(format!("| {claim} | {must} | {is} | {met} |"));
    }

    pub(crate) fn print(&self) {
        if self.0.is_empty() {
            return;
        }
        println!("### What is claimed\n");
        println!("| | must be | is | which is |");
        println!("|---|---|---|---|");
        for line in &self.0 {
            println!("{line}");
        }
    }
}

/// How far the reported means are from the truth, that of the chain or that of the empty function, whichever is worse: of each the
/// median over the rounds.
fn error(rounds: &Rounds) -> Option<f64> {
    let chain = rounds.spread(|of| Some((of("chain")? - of("truth")?).abs()))?;
    let empty = rounds.spread(|of| Some(of("empty")?.abs()))?;
    Some(chain.median.max(empty.median))
}
