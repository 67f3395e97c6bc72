//! The report for Prometheus: as OpenMetrics text, which a program serves on its own `/metrics`, and in the older format, which is written
//! to a file for node_exporter's textfile collector.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

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
    /// nested probes; each includes `tsc_visible_overhead_ticks`), and the clock's rate, which converts ticks to seconds. The labels are
    /// `module`, `name`, `location`, `probe` and, if there is one, `fence` and `unit`. A negative sum, which is possible because the probes'
    /// cost is only known on average, is left out, because OpenMetrics has none; in a histogram, with the count. Light rows have no histogram.
    ///
    /// ```
    /// let body = tsc_runtime::snapshot().to_openmetrics();
    /// assert!(body.ends_with("# EOF\n"));
    /// ```
    #[must_use]
    pub fn to_openmetrics(&self) -> String {
        self.metrics(true)
    }

    /// The same metrics in [Prometheus' older text format](https://prometheus.io/docs/instrumenting/exposition_formats/), version 0.0.4.
    /// node_exporter's textfile collector, the Pushgateway and `promtool check metrics` read it.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        self.metrics(false)
    }

    fn metrics(&self, is_openmetrics: bool) -> String {
        let mut metrics = Metrics {
            text: String::new(),
            is_openmetrics,
        };
        metrics.families(self);
        metrics.text
    }
}

/// A figure's name, its explanation, and its value for a callsite; `None` if it is unknown.
type Figure = (&'static str, &'static str, Value);
type Value = fn(&CallsiteReport) -> Option<f64>;

const COUNTERS: [Figure; 8] = [
    ("tsc_calls", "Calls that have returned.", |of| {
        Some(of.calls as f64)
    }),
    (
        "tsc_interrupted_calls",
        "Calls during which the thread was preempted, migrated or signalled.",
        |of| Some(of.interrupted? as f64),
    ),
    (
        "tsc_inclusive_ticks",
        "Net ticks with all callees, on the CPU and blocked.",
        |of| Some(of.total_ticks),
    ),
    (
        "tsc_self_ticks",
        "Net ticks outside annotated callees, on the CPU and blocked.",
        |of| Some(of.self_ticks),
    ),
    (
        "tsc_self_on_cpu_ticks",
        "Net ticks outside annotated callees, on the CPU.",
        |of| of.self_on_cpu_ticks,
    ),
    (
        "tsc_on_cpu_ticks",
        "Net ticks with all callees, on the CPU.",
        |of| of.on_cpu_ticks,
    ),
    (
        "tsc_waiting_ticks",
        "Ticks in which a thread was ready while another one ran: in no net ticks.",
        |of| of.waiting_ticks,
    ),
    (
        "tsc_overhead_ticks",
        "What the probes cost, taken out of the ticks.",
        |of| Some(of.overhead_ticks),
    ),
];

const VISIBLE: Figure = (
    "tsc_visible_overhead_ticks",
    "What a probe sees of itself, in each gross tick count.",
    |of| (!of.is_light()).then(|| of.sums.visible()),
);
const HISTOGRAM: &str = "tsc_call_gross_ticks";

/// What is added to the names of samples.
fn suffix_of(kind: &str) -> &'static str {
    if kind == "counter" { "_total" } else { "" }
}

struct Metrics {
    text: String,
    /// Whether it is not in the older format.
    is_openmetrics: bool,
}

impl Metrics {
    fn families(&mut self, report: &Report) {
        const HERTZ: &str = "tsc_clock_hertz";
        if let Some(hz) = report.clock.hz {
            self.begin("gauge", HERTZ, "Ticks per second.");
            _ = writeln!(self.text, "{HERTZ} {hz}");
        }
        for counter in COUNTERS {
            self.family(report, "counter", counter);
        }
        self.family(report, "gauge", VISIBLE);
        let help = "Gross ticks of a call; without most of the interrupted calls.";
        self.begin("histogram", HISTOGRAM, help);
        for callsite in report.callsites.iter().filter(|of| !of.is_light()) {
            self.histogram(callsite);
        }
        if self.is_openmetrics {
            self.text += "# EOF\n";
        }
    }

    /// Writes the lines above a family's samples.
    fn begin(&mut self, kind: &str, name: &str, help: &str) {
        let (text, is_open) = (&mut self.text, self.is_openmetrics);
        // In OpenMetrics, a counter's name does not contain the suffix of its samples. In the older format it does.
        let suffix = if is_open { "" } else { suffix_of(kind) };
        _ = writeln!(text, "# TYPE {name}{suffix} {kind}");
        let mut units = ["ticks", "hertz"].into_iter();
        if let Some(unit) = units.find(|unit| is_open && name.ends_with(unit)) {
            _ = writeln!(text, "# UNIT {name} {unit}");
        }
        _ = writeln!(text, "# HELP {name}{suffix} {help}");
    }

    fn family(&mut self, report: &Report, kind: &str, (name, help, of): Figure) {
        self.begin(kind, name, help);
        for callsite in &report.callsites {
            // A counter is never negative.
            if let Some(value) = of(callsite).filter(|&value| value >= 0.0) {
                let labels = labels(callsite);
                _ = writeln!(self.text, "{name}{}{{{labels}}} {value}", suffix_of(kind));
            }
        }
    }

    fn histogram(&mut self, callsite: &CallsiteReport) {
        let (text, name, labels) = (&mut self.text, HISTOGRAM, labels(callsite));
        let (samples, sum) = (callsite.samples, callsite.sums.sum);
        let buckets = OCTAVES.map(|octave| {
            let end = 1 << octave;
            let buckets = callsite.histogram.iter();
            let below = buckets.take_while(|bucket| bucket.from_ticks < end);
            let calls = saturating_sum(below.map(|bucket| bucket.calls));
            ((end - 1).to_string(), calls)
        });
        for (edge, calls) in buckets.chain([("+Inf".to_owned(), samples)]) {
            _ = writeln!(text, "{name}_bucket{{{labels},le=\"{edge}\"}} {calls}");
        }
        if sum >= 0 || !self.is_openmetrics {
            _ = writeln!(text, "{name}_count{{{labels}}} {samples}");
        }
        if sum >= 0 {
            _ = writeln!(text, "{name}_sum{{{labels}}} {sum}");
        }
    }
}

/// The labels of a callsite: all that [`Report::merge`] tells callsites apart by, so that no two have the same.
fn labels(of: &CallsiteReport) -> String {
    let location = format!("{}:{}", of.file, of.line);
    let labels = [
        ("module", &*of.module),
        ("name", &of.name),
        ("location", &location),
        ("probe", &of.probe),
        ("fence", &of.fence),
        ("unit", of.unit.as_deref().unwrap_or_default()),
    ];
    // An empty label is the same as none.
    let known = labels.iter().filter(|(_, value)| !value.is_empty());
    let known = known.map(|(label, value)| format!(r#"{label}="{}""#, escaped(value)));
    known.collect::<Vec<_>>().join(",")
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', r#"\""#);
    value.replace('\n', r"\n")
}
