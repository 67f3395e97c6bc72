//! The verdicts of `cargo tsc diff`.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::SLOWED;
use crate::sides::Side;

/// The name, verdict and measured ratio of each function that was judged.
pub type Verdicts = Vec<(String, String, f64)>;

/// Compares two sides, pair by pair or not.
pub fn diff(tool: &Path, before: &Side, after: &Side, paired: bool) -> io::Result<Verdicts> {
    before.pair_with(paired.then_some(after))?;
    after.pair_with(paired.then_some(before))?;
    let output = Command::new(tool)
        .args(["tsc", "diff", "--lenient", "--json"])
        .args([&before.folder, &after.folder])
        .output()?;
    let answer: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))?;
    let comparison = &answer["comparison"];
    assert_eq!(
        comparison["interleaved"], paired,
        "the sessions are compared in the requested way"
    );
    let rows = comparison["rows"].as_array();
    let verdict = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        (
            text("name"),
            text("verdict"),
            row["ratio"].as_f64().unwrap_or(f64::NAN),
        )
    };
    let judged = |(_, verdict, _): &(String, String, f64)| verdict != "too-small";
    Ok(rows
        .into_iter()
        .flatten()
        .map(verdict)
        .filter(judged)
        .collect())
}

/// The numbers of verdicts in all tries.
#[derive(Default)]
pub struct Count {
    pub tries: u64,
    /// Verdicts on the function that may be slowed down.
    pub slower: u64,
    pub faster: u64,
    pub unresolved: u64,
    pub unchanged: u64,
    ratios: Vec<f64>,
    /// Verdicts on all other functions.
    pub others: u64,
    pub others_named: u64,
}

impl Count {
    pub fn add(&mut self, verdicts: &Verdicts) {
        for (name, verdict, ratio) in verdicts {
            let named = matches!(verdict.as_str(), "slower" | "faster");
            if !name.ends_with(SLOWED) {
                self.others += 1;
                self.others_named += u64::from(named);
                continue;
            }
            self.tries += 1;
            self.ratios.push(*ratio);
            self.slower += u64::from(verdict == "slower");
            self.faster += u64::from(verdict == "faster");
            self.unresolved += u64::from(verdict == "not-resolved");
            self.unchanged += u64::from(verdict == "no-change");
        }
    }

    /// The number of rows that were reported as changed although none was, and the number of rows that were judged.
    pub fn false_alarms(&self) -> (u64, u64) {
        let named = self.slower + self.faster + self.others_named;
        (named, self.tries + self.others)
    }

    pub fn median_ratio(&self) -> f64 {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
    }
}
