//! The verdicts of `cargo tsc diff`.

use std::fmt;

use cargo_tsc::statistics::median;
use serde_json::Value;

/// The name, the verdict, the measured ratio and the smallest visible change of each function that was judged.
pub struct Verdicts(Vec<(String, String, f64, f64)>);

impl Verdicts {
    pub fn of(comparison: &Value) -> Self {
        let verdict = |row: &Value| {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
            (
                text("name"),
                text("verdict"),
                number("ratio"),
                number("visible"),
            )
        };
        let rows = comparison["rows"]
            .as_array()
            .into_iter()
            .flatten()
            .map(verdict);
        Self(rows.filter(|row| row.1 != "too-small").collect())
    }
}

/// The numbers of verdicts in all tries.
#[derive(Default)]
pub struct Count {
    /// Verdicts on the function that is slowed down.
    tries: u64,
    slower: u64,
    unresolved: u64,
    ratios: Vec<f64>,
    visible: Vec<f64>,
    /// Verdicts on all other functions.
    pub others: u64,
    pub others_named: u64,
}

impl Count {
    /// Adds a try. Functions that are named beside the slowed one are false alarms.
    pub fn add(&mut self, verdicts: &Verdicts, slowed: Option<&str>) {
        for (name, verdict, ratio, visible) in &verdicts.0 {
            if slowed.is_none_or(|slowed| !name.ends_with(&format!("::{slowed}"))) {
                self.others += 1;
                if matches!(verdict.as_str(), "slower" | "faster") {
                    self.others_named += 1;
                    eprintln!("{name}: {verdict}, {ratio:.3}");
                }
                continue;
            }
            self.tries += 1;
            // Unknown, if the shortest calls made the verdict and all seem to have changed the other way.
            self.ratios
                .extend(Some(*ratio).filter(|ratio| ratio.is_finite()));
            self.visible.push(*visible);
            self.slower += u64::from(verdict == "slower");
            self.unresolved += u64::from(verdict == "not-resolved");
        }
    }

    pub fn is_well(&self) -> bool {
        self.slower * 10 >= self.tries * 9 && self.others_named * 20 <= self.others
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} | {} | {} | {:.4} | {:.1} % | {} of {}",
            self.tries,
            self.slower,
            self.unresolved,
            median(&self.ratios).unwrap_or(f64::NAN),
            100.0 * median(&self.visible).unwrap_or(f64::NAN),
            self.others_named,
            self.others
        )
    }
}
