//! What ticks are written in.

use super::TextUnit;
use crate::report::Clock;

/// A unit, and how many of it a tick is.
pub(super) struct Scale {
    factor: f64,
    pub(super) unit: &'static str,
    /// What is to be known of it: an uncertainty, or why it is not the one that was asked for.
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
            remark: Some(format!("in {}, for {what} is not known here", clock.unit())),
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

    /// With a digit behind the point, where that says something.
    pub(super) fn short(&self, ticks: f64) -> String {
        let value = self.of(ticks);
        let digits = usize::from(value.abs() < 10_000.0);
        format!("{value:.digits$}")
    }

    /// To whole ones.
    pub(super) fn whole(&self, ticks: f64) -> String {
        format!("{:.0}", self.of(ticks))
    }
}

impl Clone for Scale {
    fn clone(&self) -> Self {
        Self {
            remark: self.remark.clone(),
            ..*self
        }
    }
}

/// The core's clock moved while the program ran; by how much is how far each figure may be off.
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
    /// The unit's name for people: `ticks`, or what they are instead.
    pub(in crate::report) fn unit(&self) -> &'static str {
        match (self.fallback_reason.is_some(), self.distrusted) {
            (true, _) => "ns",
            (false, true) => "ticks (distrusted)",
            (false, false) => "ticks",
        }
    }
}
