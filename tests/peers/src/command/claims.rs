//! What this crate claims, beside what the run shows.

use super::roster::Kind;
use super::rounds::{Rounds, of};
use super::spread::{Spread, cell};

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
        if let (Some(ours), Some((other, theirs))) =
            (of(all, "cycles_lfence").and_then(error), best)
        {
            self.0.push(format!(
                "| error, default fence ÷ the best of the others ({}) | ≤ 0.33 | {:.2} ({ours:.1} ns, {theirs:.1} ns) |",
                other.contestant.label,
                ours / theirs,
            ));
        }
    }

    pub(crate) fn sustained(&mut self, all: &[Rounds]) {
        self.beside(
            all,
            "`none` ÷ hotpath, all in",
            ["cycles_none", "hotpath"],
            "cpu",
            0.3,
        );
        self.beside(
            all,
            "default fence ÷ hotpath, over ten million calls",
            ["cycles_lfence", "hotpath"],
            "wall",
            0.45,
        );
        let cheapest = all
            .iter()
            .filter(|one| {
                one.contestant.kind == Kind::Peer
                    && one.figure("lost").is_some_and(|lost| lost.median <= 0.0)
            })
            .filter_map(|one| Some((one, one.figure("cpu")?.median)))
            .min_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((peer, _)) = cheapest {
            let claim = format!(
                "`none` ÷ the cheapest peer that aggregates every call ({}), all in",
                peer.contestant.label
            );
            self.beside(
                all,
                &claim,
                ["cycles_none", peer.contestant.name],
                "cpu",
                1.0,
            );
        }
    }

    /// The ratio of a figure of two contestants, round by round.
    fn beside(&mut self, all: &[Rounds], claim: &str, names: [&str; 2], key: &str, most: f64) {
        let [Some(ours), Some(theirs)] = names.map(|name| of(all, name)) else {
            return;
        };
        let pairs = ours.figures.iter().zip(&theirs.figures);
        let ratios = pairs
            .filter_map(|(ours, theirs)| Some(ours.get(key)? / theirs.get(key)?))
            .collect();
        self.0.push(format!(
            "| {claim} | ≤ {most} | {} |",
            cell(Spread::of(ratios), 2)
        ));
    }

    pub(crate) fn print(&self) {
        if self.0.is_empty() {
            return;
        }
        println!("### What is claimed\n");
        println!("| | must be | is |");
        println!("|---|---|---|");
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
