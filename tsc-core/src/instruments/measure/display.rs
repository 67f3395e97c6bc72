//! The text of a measurement.

use std::fmt::{self, Display};

use super::measurement::Measurement;
use super::settling::{Note, Step};
use super::verdict::Verdict;

impl Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ticks().is_nan() {
            write!(f, "no sample")?;
        } else if let Some(Note::Constant | Note::Unsettled) = self.note() {
            write!(f, "{:.1} ticks on average", self.ticks())?;
        } else {
            write!(f, "{:.0} ticks", self.ticks())?;
        }
        self.note().map_or(Ok(()), |note| write!(f, " <== {note}"))
    }
}

/// A value and its standard error, with as many decimals as the error has in its first two digits, but at least one.
struct WithError(f64, f64);

impl Display for WithError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, error) = self;
        // An error of 0, or of millionths, would need more decimals than anybody reads.
        let decimals = match *error < 1e-4 {
            true => 1,
            false => (1.0 - error.log10().floor()).clamp(1.0, 5.0) as usize,
        };
        write!(f, "{value:.decimals$} ± {error:.decimals$}")
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { share } => write!(
                f,
                "constant: {:.0} % of the samples are near the most frequent value",
                100.0 * share
            ),
            Self::Unsettled { why } => write!(f, "not constant, {why}"),
        }
    }
}

impl Display for Measurement {
    /// One line for each call until the work settled; then the verdict and the distribution.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.settling() {
            writeln!(f, "{}: {step}", self.name())?;
        }
        write!(f, "{}: ", self.name())?;
        if self.is_constant() {
            let ticks = WithError(self.mean_ticks, self.std_error_ticks);
            write!(f, "{ticks} ticks, ")?;
            if let Some((cycles, error)) = self.core_cycles().zip(self.std_error_core_cycles()) {
                write!(f, "{} core cycles, ", WithError(cycles, error))?;
            }
        }
        writeln!(f, "{}", self.verdict())?;
        match self.samples() {
            0 => Ok(()),
            _ => self.write_samples(f),
        }
    }
}

impl Measurement {
    /// The distribution of the samples, and what the figures rest on.
    fn write_samples(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spread = self.spread_percent.map(|percent| format!("{percent:.1} %"));
        writeln!(
            f,
            "  min {:.1}  p10 {:.1}  p50 {:.1}  p90 {:.1}  p99 {:.1}  max {:.1}  mode {:.1}  spread {}  first {:.0}",
            self.min_ticks(),
            self.p10_ticks(),
            self.p50_ticks(),
            self.p90_ticks(),
            self.p99_ticks(),
            self.max_ticks(),
            self.mode_ticks(),
            spread.unwrap_or_else(|| "-".to_owned()),
            self.first_ticks(),
        )?;
        let interrupted = match self.interruptions_detected {
            true => format!("{} interrupted and taken again", self.interrupted),
            false => "interruptions: not detected here".to_owned(),
        };
        writeln!(
            f,
            "  {} samples of {} calls, {interrupted}; {:.1} ticks a sample subtracted; step {}",
            self.samples(),
            self.calls_per_sample(),
            self.baseline_ticks(),
            self.resolution_ticks(),
        )?;
        if let Some(clock) = self.clock() {
            writeln!(
                f,
                "  {:.3} core cycles a tick ({:.3} … {:.3})",
                clock.cycles_per_tick, clock.least, clock.greatest
            )?;
        }
        if let Some(per) = self.per_byte() {
            let unit = self.core_cycles.map_or("ticks", |_| "core cycles");
            writeln!(f, "  {per:.3} {unit} per byte")?;
        }
        let mut remarks = self.remarks.iter();
        remarks.try_for_each(|remark| writeln!(f, "  {remark}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_two_digits() {
        let shown = |value, error| WithError(value, error).to_string();
        assert_eq!(shown(33.8123, 0.0421), "33.812 ± 0.042");
        assert_eq!(shown(33.8123, 0.421), "33.81 ± 0.42");
        assert_eq!(shown(1119.74, 4.93), "1119.7 ± 4.9");
        assert_eq!(shown(50_850.6, 312.5), "50850.6 ± 312.5");
        assert_eq!(shown(0.5, 0.0), "0.5 ± 0.0");
    }
}
