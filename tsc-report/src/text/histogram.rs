//! Draws a row's distribution in one line, from the smallest sample to the largest. The scale is logarithmic, so that a function
//! with a fast and a slow path shows two peaks.

use super::scale::Scale;
use crate::data::histogram::middle;
use crate::data::saturating_sum;
use crate::{Bucket, CallsiteReport};

const COLUMNS: usize = 60;
/// The bars, from one call up to the number in the fullest column. The heights are logarithmic, so that a few calls remain visible.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const INDENT: &str = "        ";

/// The bars, the mark of the first call below them, and the axis. None if there are no samples.
pub(super) fn lines(row: &CallsiteReport, scale: &Scale) -> Vec<String> {
    let Some(axis) = Axis::new(row) else {
        return Vec::new();
    };
    let first = row.sums.first.map(|of| 1 + axis.column(of.ticks as f64));
    let below = first.map_or(String::new(), |end| format!("{:>end$}", 'F'));
    let least = scale.figure((axis.least - axis.visible).max(0.0));
    let greatest = scale.figure(axis.greatest - axis.visible);
    let room = COLUMNS.saturating_sub(least.chars().count());
    vec![
        format!("{INDENT}{}", bars(&row.histogram, &axis)),
        format!("{INDENT}{below}"),
        format!("{INDENT}{least}{greatest:>room$}"),
    ]
}

/// Maps gross ticks, which may be 0, to columns.
struct Axis {
    least: f64,
    greatest: f64,
    visible: f64,
}

impl Axis {
    /// Returns `None` if there are no samples.
    fn new(row: &CallsiteReport) -> Option<Self> {
        Some(Self {
            least: middle(row.histogram.first()?.from_ticks),
            greatest: middle(row.histogram.last()?.from_ticks),
            visible: row.sums.visible(),
        })
    }

    /// The column of that value; values beyond an end belong to the last column there.
    fn column(&self, gross: f64) -> usize {
        let length = ((self.greatest + 1.0) / (self.least + 1.0)).ln();
        let at = ((gross.max(0.0) + 1.0) / (self.least + 1.0)).ln();
        if length <= 0.0 {
            return 0;
        }
        let last = (COLUMNS - 1) as f64;
        (at / length * last).round().clamp(0.0, last) as usize
    }
}

fn bars(buckets: &[Bucket], axis: &Axis) -> String {
    let mut columns = [0_u64; COLUMNS];
    for bucket in buckets {
        let column = &mut columns[axis.column(middle(bucket.from_ticks))];
        *column = saturating_sum([*column, bucket.calls]);
    }
    let most = columns.iter().copied().max().unwrap_or(0) as f64;
    let bar = |calls: u64| {
        if calls == 0 {
            return ' ';
        }
        let height = (calls as f64 + 1.0).ln() / (most + 1.0).ln();
        let level = (height * LEVELS.len() as f64).ceil() as usize;
        LEVELS[level.clamp(1, LEVELS.len()) - 1]
    };
    let line: String = columns.map(bar).into_iter().collect();
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::histogram::tests::histogram;

    #[test]
    fn two_speeds_are_two_hills() {
        let fast = (0..1000).map(|n| 500 + n % 40);
        let slow = (0..30).map(|n| 90_000 + n * 100);
        let buckets = histogram(fast.chain(slow));
        let axis = Axis {
            least: middle(buckets[0].from_ticks),
            greatest: middle(buckets.last().unwrap().from_ticks),
            visible: 0.0,
        };
        let line = bars(&buckets, &axis);
        let hills: Vec<&str> = line
            .split("     ")
            .filter(|part| !part.trim().is_empty())
            .collect();
        assert_eq!(hills.len(), 2, "{line:?}");
        assert!(line.starts_with('▇') || line.starts_with('█'), "{line:?}");
        assert_eq!(line.chars().count(), COLUMNS);
    }

    #[test]
    fn one_value_is_one_bar() {
        let buckets = histogram([7; 9]);
        let axis = Axis {
            least: 7.0,
            greatest: 7.0,
            visible: 0.0,
        };
        assert_eq!(bars(&buckets, &axis), "█");
    }
}
