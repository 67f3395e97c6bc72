//! The report for Prometheus: as OpenMetrics text, which a program serves on its own `/metrics`, and in the older format, which is written
//! to a file for node_exporter's textfile collector.

#[cfg(test)]
mod tests;

use std::fmt::{self, Write};

use crate::data::saturating_sum;
use crate::{CallsiteReport, Report};

/// The upper limits of the histogram's buckets are one less than these powers of two. They are the same for all callsites, so that
/// Prometheus can add them.
const OCTAVES: std::ops::RangeInclusive<u32> = 5..=36;

impl Report {
    /// The report as [OpenMetrics 1.0](https://prometheus.io/docs/specs/om/open_metrics_spec/) text. A program serves it on its `/metrics`
    /// as `application/openmetrics-text; version=1.0.0; charset=utf-8`.
    ///
    /// It contains counters of calls and of ticks for each callsite, a histogram of the samples' gross ticks (raw ticks minus the cost of
    /// nested probes; each includes `tsc_visible_overhead_ticks`), and the clock's rate, which converts ticks to seconds. A negative sum,
    /// which is possible because the probes' cost is only known on average, is left out, because OpenMetrics has no negative counters.
    ///
    /// ```
    /// let body = tsc_runtime::snapshot().to_openmetrics();
    /// assert!(body.ends_with("# EOF\n"));
    /// ```
    #[must_use]
    pub fn to_openmetrics(&self) -> String {
        self.metrics(Dialect::OpenMetrics)
    }

    /// The same metrics in [Prometheus' older text format](https://prometheus.io/docs/instrumenting/exposition_formats/), version 0.0.4.
    /// node_exporter's textfile collector, the Pushgateway and `promtool check metrics` read it.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        self.metrics(Dialect::Prometheus)
    }

    fn metrics(&self, dialect: Dialect) -> String {
        let mut text = Text {
            out: String::new(),
            dialect,
        };
        // Writing to a `String` cannot fail.
        let _: fmt::Result = text.families(self);
        text.out
    }
}

/// A counter's name, its explanation, and its value for a callsite; `None` if it is unknown.
type Counter = (
    &'static str,
    &'static str,
    fn(&CallsiteReport) -> Option<String>,
);

const COUNTERS: [Counter; 7] = [
    ("tsc_calls", "Calls that have returned.", |of| {
        Some(of.calls.to_string())
    }),
    (
        "tsc_interrupted_calls",
        "Calls during which the thread was preempted, migrated or signalled.",
        |of| of.interrupted.as_ref().map(u64::to_string),
    ),
    (
        "tsc_inclusive_ticks",
        "Net ticks with all callees, on the CPU and blocked.",
        |of| ticks(Some(of.total_ticks)),
    ),
    (
        "tsc_self_ticks",
        "Net ticks outside annotated callees, on the CPU and blocked.",
        |of| ticks(Some(of.self_ticks)),
    ),
    (
        "tsc_on_cpu_ticks",
        "Net ticks with all callees, on the CPU.",
        |of| ticks(of.on_cpu_ticks),
    ),
    (
        "tsc_waiting_ticks",
        "Ticks in which a thread was ready while another one ran: in no net ticks.",
        |of| ticks(of.waiting_ticks),
    ),
    (
        "tsc_overhead_ticks",
        "What the probes cost, taken out of the ticks.",
        |of| ticks(Some(of.overhead_ticks)),
    ),
];

/// A counter is never negative.
fn ticks(ticks: Option<f64>) -> Option<String> {
    Some(ticks.filter(|&ticks| ticks >= 0.0)?.to_string())
}

#[derive(Clone, Copy, PartialEq)]
enum Dialect {
    OpenMetrics,
    Prometheus,
}

struct Text {
    out: String,
    dialect: Dialect,
}

impl Text {
    fn families(&mut self, report: &Report) -> fmt::Result {
        if let Some(hz) = report.clock.hz {
            self.begin(
                "gauge",
                "tsc_clock_hertz",
                Some("hertz"),
                "Ticks per second.",
            )?;
            writeln!(self.out, "tsc_clock_hertz {hz}")?;
        }
        for counter in COUNTERS {
            self.counter(report, counter)?;
        }
        self.visible_overhead(report)?;
        self.histograms(report)?;
        match self.dialect {
            Dialect::OpenMetrics => self.out.write_str("# EOF\n"),
            Dialect::Prometheus => Ok(()),
        }
    }

    /// Writes the lines above a family's samples.
    fn begin(&mut self, kind: &str, name: &str, unit: Option<&str>, help: &str) -> fmt::Result {
        // In OpenMetrics, a counter's name does not contain the suffix of its samples. In the older format it does.
        let suffix = match (self.dialect, kind) {
            (Dialect::Prometheus, "counter") => "_total",
            _ => "",
        };
        writeln!(self.out, "# TYPE {name}{suffix} {kind}")?;
        if let (Dialect::OpenMetrics, Some(unit)) = (self.dialect, unit) {
            writeln!(self.out, "# UNIT {name} {unit}")?;
        }
        writeln!(self.out, "# HELP {name}{suffix} {help}")
    }

    fn counter(&mut self, report: &Report, (name, help, of): Counter) -> fmt::Result {
        let unit = name.ends_with("_ticks").then_some("ticks");
        self.begin("counter", name, unit, help)?;
        for callsite in &report.callsites {
            if let Some(value) = of(callsite) {
                writeln!(self.out, "{name}_total{{{}}} {value}", Labels(callsite))?;
            }
        }
        Ok(())
    }

    fn visible_overhead(&mut self, report: &Report) -> fmt::Result {
        const NAME: &str = "tsc_visible_overhead_ticks";
        let help = "What a probe sees of itself, in each gross tick count.";
        self.begin("gauge", NAME, Some("ticks"), help)?;
        for callsite in &report.callsites {
            let visible = callsite.sums.visible();
            writeln!(self.out, "{NAME}{{{}}} {visible}", Labels(callsite))?;
        }
        Ok(())
    }

    fn histograms(&mut self, report: &Report) -> fmt::Result {
        const NAME: &str = "tsc_call_gross_ticks";
        let help = "Gross ticks of a call; without first and interrupted calls.";
        self.begin("histogram", NAME, Some("ticks"), help)?;
        for callsite in &report.callsites {
            self.histogram(NAME, callsite)?;
        }
        Ok(())
    }

    fn histogram(&mut self, name: &str, callsite: &CallsiteReport) -> fmt::Result {
        let labels = Labels(callsite);
        for octave in OCTAVES {
            let end = 1 << octave;
            let below = callsite
                .histogram
                .iter()
                .filter(|bucket| bucket.from_ticks < end);
            let calls = saturating_sum(below.map(|bucket| bucket.calls));
            let edge = end - 1;
            writeln!(self.out, "{name}_bucket{{{labels},le=\"{edge}\"}} {calls}")?;
        }
        let samples = callsite.samples;
        writeln!(self.out, "{name}_bucket{{{labels},le=\"+Inf\"}} {samples}")?;
        writeln!(self.out, "{name}_count{{{labels}}} {samples}")?;
        if callsite.sums.sum >= 0 {
            writeln!(self.out, "{name}_sum{{{labels}}} {}", callsite.sums.sum)?;
        }
        Ok(())
    }
}

/// The labels that identify a callsite.
struct Labels<'a>(&'a CallsiteReport);

impl fmt::Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallsiteReport {
            name,
            module,
            file,
            line,
            ..
        } = self.0;
        write!(
            f,
            "module=\"{}\",name=\"{}\",location=\"{}:{line}\"",
            escaped(module),
            escaped(name),
            escaped(file)
        )
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace('"', r#"\""#)
        .replace('\n', r"\n")
}
