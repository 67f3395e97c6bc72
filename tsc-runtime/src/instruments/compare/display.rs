//! The text of a comparison.

use std::fmt;

use super::result::{CONFIDENCE, Comparison};

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<32} {:>12} {:>8} {:>19}",
            self.name,
            "ticks",
            "ratio",
            format!("{:.0} % interval", 100.0 * CONFIDENCE)
        )?;
        for row in &self.rows {
            write!(f, "{:<32} {:>12.1}", row.name, row.ticks)?;
            match row.ratio {
                Some(ratio) => writeln!(
                    f,
                    " {:>8.3} {:>19}  {}",
                    ratio.median,
                    format!("{:.3} … {:.3}", ratio.low, ratio.high),
                    row.relation
                )?,
                None => writeln!(f, " {:>8} {:>19}  {}", "", "", row.relation)?,
            }
        }
        let fastest = self.fastest().unwrap_or("none resolved");
        writeln!(
            f,
            "fastest: {fastest}; {} blocks of {} calls each, in shuffled order; {} interrupted and made again",
            self.blocks, self.calls_per_sample, self.interrupted
        )
    }
}
