//! How a comparison reads.

use std::fmt::{self, Write};

use super::result::{Comparison, Relation};

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::First => "-",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference resolved",
        })
    }
}

impl Comparison {
    /// The table in markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "| {} | ticks | ratio | {:.0} % interval | |\n|---|---|---|---|---|\n",
            self.name,
            100.0 * self.confidence
        );
        for standing in &self.standings {
            let (ratio, interval) = standing.ratio.map_or_else(Default::default, |ratio| {
                (
                    format!("{:.3}", ratio.median),
                    format!("{:.3} … {:.3}", ratio.low, ratio.high),
                )
            });
            let _ = writeln!(
                text,
                "| {} | {:.1} | {ratio} | {interval} | {} |",
                standing.name, standing.ticks, standing.relation
            );
        }
        text
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<32} {:>12} {:>8} {:>19}",
            self.name,
            "ticks",
            "ratio",
            format!("{:.0} % interval", 100.0 * self.confidence)
        )?;
        for standing in &self.standings {
            write!(f, "{:<32} {:>12.1}", standing.name, standing.ticks)?;
            match standing.ratio {
                Some(ratio) => writeln!(
                    f,
                    " {:>8.3} {:>19}  {}",
                    ratio.median,
                    format!("{:.3} … {:.3}", ratio.low, ratio.high),
                    standing.relation
                )?,
                None => writeln!(f, " {:>8} {:>19}  {}", "", "", standing.relation)?,
            }
        }
        let fastest = self
            .fastest
            .as_deref()
            .map_or("none resolved".to_owned(), ToOwned::to_owned);
        writeln!(
            f,
            "fastest: {fastest}; {} blocks of {} calls each, in shuffled order; {} interrupted and made again",
            self.blocks, self.calls_per_sample, self.interrupted
        )
    }
}
