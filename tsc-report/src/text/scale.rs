//! The unit that figures are printed in.

use crate::{Clock, TextUnit};

/// A unit, and how many of them make a tick.
pub(super) struct Scale {
    factor: f64,
    /// The unit of all figures; with `None` each has its own, from nanoseconds to seconds.
    pub(super) unit: Option<&'static str>,
    /// The unit's uncertainty, or why it is not the one that was asked for.
    pub(super) remark: Option<String>,
}

impl Scale {
    pub(super) fn new(clock: &Clock, unit: TextUnit) -> Self {
        let scale = |factor, unit, remark| Self {
            factor,
            unit,
            remark,
        };
        let in_ticks = |remark| scale(1.0, Some(clock.unit()), remark);
        let missing = |what| in_ticks(Some(format!("in {}: {what} is unknown here", clock.unit())));
        match (unit, clock.hz, clock.core_cycles_per_tick) {
            (TextUnit::Ticks, ..) => in_ticks(None),
            (TextUnit::Time, ..) if clock.fallback_reason.is_some() => scale(1.0, None, None),
            (TextUnit::Time, Some(hz), _) => scale(1e9 / hz, None, None),
            (TextUnit::Time, None, _) => missing("the counter's rate"),
            (TextUnit::Cycles, _, Some(ratio)) => {
                let remark = remark_on_cycles(clock, ratio);
                scale(ratio, Some("core cycles"), Some(remark))
            }
            (TextUnit::Cycles, _, None) => missing("the core's clock"),
        }
    }

    /// A cell of the table: `87.5ns`, or with another unit the number alone.
    pub(super) fn cell(&self, ticks: f64) -> String {
        let value = ticks * self.factor;
        match self.unit {
            None => time(value),
            Some(_) => fixed(value, usize::from(value.abs() < 1_000.0)),
        }
    }

    /// The same of what may be unknown.
    pub(super) fn known(&self, ticks: Option<f64>) -> String {
        ticks.map_or_else(|| "-".to_owned(), |ticks| self.cell(ticks))
    }

    /// A cell for a short time that is only a bound: `12ns`.
    pub(super) fn bound(&self, ticks: f64) -> String {
        let value = (ticks * self.factor).ceil();
        format!("{value:.0}{}", if self.unit.is_none() { "ns" } else { "" })
    }

    /// A figure with its unit.
    pub(super) fn figure(&self, ticks: f64) -> String {
        let unit = self.unit.map(|unit| format!(" {unit}"));
        self.cell(ticks) + &unit.unwrap_or_default()
    }
}

/// Nanoseconds as `87.5ns`, `1.23ms` or `12.3s`.
#[must_use]
pub fn time(ns: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    // What is rounded to 1000 of a unit is 1.00 of the next one.
    let fits = |(size, _): &(f64, &str)| ns.abs() >= 0.9995 * size;
    let (size, unit) = UNITS.into_iter().find(fits).unwrap_or((1.0, "ns"));
    match three_digits(ns / size) {
        zero if zero == "0.00" => "0ns".to_owned(),
        text => text + unit,
    }
}

/// A rate of units of any size, with the prefix of a unit: `1.23 M`.
pub(super) fn scaled(rate: f64) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    let fits = |(size, _): &(f64, &str)| rate.abs() >= 0.9995 * size;
    let (size, prefix) = PREFIXES.into_iter().find(fits).unwrap_or((1.0, ""));
    format!("{} {prefix}", three_digits(rate / size))
}

fn three_digits(value: f64) -> String {
    let digits = match value.abs() {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    fixed(value, digits)
}

/// `1,234,567`.
#[must_use]
pub fn count(count: u64) -> String {
    let digits: Vec<char> = count.to_string().chars().collect();
    let groups = digits.rchunks(3).rev().map(String::from_iter);
    groups.collect::<Vec<_>>().join(",")
}

/// `999,999`, and from there on `1.23M`.
pub(super) fn short_count(number: u64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e12, "T"), (1e9, "G"), (1e6, "M")];
    let fits = |&(size, _): &(f64, &str)| number >= 1_000_000 && number as f64 >= 0.9995 * size;
    match UNITS.into_iter().find(fits) {
        Some((size, unit)) => three_digits(number as f64 / size) + unit,
        None => count(number),
    }
}

/// The value with that many digits after the point. A negative value that is rounded to zero is printed without its sign.
pub(super) fn fixed(value: f64, digits: usize) -> String {
    let mut text = format!("{value:.digits$}");
    if text.starts_with('-') && !text.contains(|c| matches!(c, '1'..='9' | 'a'..='z')) {
        text.remove(0);
    }
    text
}

/// The core's clock moved while the program ran: its range is the uncertainty of every figure.
fn remark_on_cycles(clock: &Clock, ratio: f64) -> String {
    let greatest = clock.core_cycles_per_tick_max;
    let range = clock.core_cycles_per_tick_min.zip(greatest);
    let error = range.map(|(least, greatest)| (greatest - ratio).max(ratio - least) / ratio);
    let error = error.map(|error| format!(" ± {:.1} %", error * 100.0));
    let error = error.unwrap_or_default();
    let source = clock.core_cycles_source.as_deref().unwrap_or("an estimate");
    format!("core cycles are ticks × {ratio:.3}{error}, by {source}")
}

impl Clock {
    /// The name of the clock's unit.
    pub(crate) fn unit(&self) -> &'static str {
        match self.fallback_reason {
            Some(_) => "ns",
            None => "ticks",
        }
    }

    /// What headings add to the unit if ticks do not measure time.
    pub(crate) fn distrust(&self) -> &'static str {
        let is_shown = self.distrusted && self.fallback_reason.is_none();
        if is_shown { " (distrusted)" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        let text = |value, digits| fixed(value, digits);
        assert_eq!((text(-0.04, 1), text(-0.4, 0)), ("0.0".into(), "0".into()));
        assert_eq!(
            (text(-0.06, 1), text(-1.0, 0)),
            ("-0.1".into(), "-1".into())
        );
        assert_eq!(
            (text(f64::NEG_INFINITY, 0), text(0.0, 1)),
            ("-inf".into(), "0.0".into())
        );
    }

    #[test]
    fn times_have_three_digits_and_their_unit() {
        for (ns, text) in [
            (0.0, "0ns"),
            (-0.001, "0ns"),
            (0.42, "0.42ns"),
            (87.54, "87.5ns"),
            (999.4, "999ns"),
            (999.6, "1.00µs"),
            (-12_345.0, "-12.3µs"),
            (20_100_000.0, "20.1ms"),
            (1.5e12, "1500s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn rates_have_three_digits_and_a_prefix() {
        let rates = [0.0, 50.0, 999.6, 300_000.0, 24_899_000.0, 1.5e12].map(scaled);
        let expected = ["0.00 ", "50.0 ", "1.00 k", "300 k", "24.9 M", "1500 G"];
        assert_eq!(rates, expected);
    }

    #[test]
    fn thousands_are_separated() {
        let counts = [0, 999, 1_000, 409_646, 1_234_567].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "409,646", "1,234,567"]);
        let short = [999_999, 1_000_000, 4_051_200, 999_600_000, 12_345_678_901].map(short_count);
        assert_eq!(short, ["999,999", "1.00M", "4.05M", "1.00G", "12.3G"]);
    }
}
