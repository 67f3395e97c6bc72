//! The unit that ticks are printed in.

use super::TextUnit;
use crate::Clock;

/// A unit, and how many of them make a tick.
pub(super) struct Scale {
    factor: f64,
    pub(super) unit: &'static str,
    /// The unit's uncertainty, or why it is not the one that was asked for.
    pub(super) remark: Option<String>,
}

impl Scale {
    pub(super) fn new(clock: &Clock, unit: TextUnit) -> Self {
        let as_counted = Self {
            factor: 1.0,
            unit: clock.unit(),
            remark: None,
        };
        if clock.fallback_reason.is_some() && unit != TextUnit::Cycles {
            return as_counted; // nanoseconds as they are
        }
        let missing = |what: &str| Self {
            remark: Some(format!("in {}: {what} is unknown here", clock.unit())),
            ..as_counted.clone()
        };
        match unit {
            TextUnit::Ticks => as_counted,
            TextUnit::Ns => match clock.hz {
                Some(hz) => Self {
                    factor: 1e9 / hz,
                    unit: "ns",
                    remark: None,
                },
                None => missing("the counter's rate"),
            },
            TextUnit::Cycles => match clock.core_cycles_per_tick {
                Some(ratio) => Self {
                    factor: ratio,
                    unit: "core cycles",
                    remark: Some(remark_on_cycles(clock, ratio)),
                },
                None => missing("the core's clock"),
            },
        }
    }

    pub(super) fn of(&self, ticks: f64) -> f64 {
        ticks * self.factor
    }

    /// With a digit after the point if the value is below 10 000.
    pub(super) fn short(&self, ticks: f64) -> String {
        let value = self.of(ticks);
        fixed(value, usize::from(value.abs() < 10_000.0))
    }

    /// Rounded to a whole number.
    pub(super) fn whole(&self, ticks: f64) -> String {
        fixed(self.of(ticks), 0)
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

impl Clone for Scale {
    fn clone(&self) -> Self {
        Self {
            remark: self.remark.clone(),
            ..*self
        }
    }
}

/// The core's clock moved while the program ran: its range is the uncertainty of every figure.
fn remark_on_cycles(clock: &Clock, ratio: f64) -> String {
    let range = match (
        clock.core_cycles_per_tick_min,
        clock.core_cycles_per_tick_max,
    ) {
        (Some(least), Some(greatest)) => {
            let error = (greatest - ratio).max(ratio - least) / ratio;
            format!(" ± {:.1} %", error * 100.0)
        }
        _ => String::new(),
    };
    let source = clock.core_cycles_source.as_deref().unwrap_or("an estimate");
    format!("core cycles are ticks × {ratio:.3}{range}, by {source}")
}

impl Clock {
    /// The name of the clock's unit.
    pub(crate) fn unit(&self) -> &'static str {
        if self.fallback_reason.is_some() {
            "ns"
        } else {
            "ticks"
        }
    }

    /// What headings add to the unit if ticks do not measure time.
    pub(crate) fn distrust(&self) -> &'static str {
        if self.distrusted && self.fallback_reason.is_none() {
            " (distrusted)"
        } else {
            ""
        }
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
}
