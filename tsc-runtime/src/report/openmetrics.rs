//! The report as OpenMetrics text, for Prometheus: served by the program itself on its `/metrics`, or written to a file for
//! node_exporter's textfile collector.

use std::fmt::{self, Write};

use super::{CallsiteReport, Report};

/// Upper edges of the histogram: one below each of these powers of two. The same for all callsites, so that Prometheus can add them.
const OCTAVES: std::ops::RangeInclusive<u32> = 5..=36;

impl Report {
    /// The report as [OpenMetrics 1.0](https://prometheus.io/docs/specs/om/open_metrics_spec/) text.
    ///
    /// Counters of calls and of ticks by callsite, a histogram of the samples' gross ticks (what was read less what nested probes
    /// cost; `tsc_visible_overhead_ticks` is in each), and the clock's rate to turn ticks into seconds by. A sum that is negative,
    /// because the probes' cost is known on average only, is left out: OpenMetrics knows no negative counters.
    #[must_use]
    pub fn openmetrics(&self) -> String {
        let mut text = String::new();
        // A String takes all that is written to it.
        let _: fmt::Result = write_families(&mut text, self);
        text
    }
}

fn write_families(out: &mut String, report: &Report) -> fmt::Result {
    if let Some(hz) = report.clock.hz {
        out.write_str("# TYPE tsc_clock_hertz gauge\n# UNIT tsc_clock_hertz hertz\n# HELP tsc_clock_hertz Ticks per second.\n")?;
        writeln!(out, "tsc_clock_hertz {hz}")?;
    }
    count(out, report, "calls", "Calls that have returned.", |of| {
        Some(of.calls)
    })?;
    count(
        out,
        report,
        "interrupted_calls",
        "Calls during which the thread was preempted, migrated or signalled.",
        |of| of.interrupted,
    )?;
    ticks(
        out,
        report,
        "inclusive",
        "Net ticks with all callees.",
        |of| Some(of.total_ticks),
    )?;
    ticks(
        out,
        report,
        "self",
        "Net ticks outside annotated callees.",
        |of| Some(of.self_ticks),
    )?;
    ticks(
        out,
        report,
        "on_cpu",
        "Net ticks with all callees, on the CPU.",
        |of| of.on_cpu_ticks,
    )?;
    ticks(
        out,
        report,
        "overhead",
        "What the probes cost, taken out of the ticks.",
        |of| Some(of.overhead_ticks),
    )?;
    visible_overhead(out, report)?;
    histograms(out, report)?;
    out.write_str("# EOF\n")
}

fn count(
    out: &mut String,
    report: &Report,
    name: &str,
    help: &str,
    of: fn(&CallsiteReport) -> Option<u64>,
) -> fmt::Result {
    writeln!(out, "# TYPE tsc_{name} counter\n# HELP tsc_{name} {help}")?;
    for callsite in &report.callsites {
        if let Some(count) = of(callsite) {
            writeln!(out, "tsc_{name}_total{{{}}} {count}", Labels(callsite))?;
        }
    }
    Ok(())
}

fn ticks(
    out: &mut String,
    report: &Report,
    name: &str,
    help: &str,
    of: fn(&CallsiteReport) -> Option<f64>,
) -> fmt::Result {
    writeln!(
        out,
        "# TYPE tsc_{name}_ticks counter\n# UNIT tsc_{name}_ticks ticks\n# HELP tsc_{name}_ticks {help}"
    )?;
    for callsite in &report.callsites {
        if let Some(ticks) = of(callsite).filter(|&ticks| ticks >= 0.0) {
            writeln!(
                out,
                "tsc_{name}_ticks_total{{{}}} {ticks}",
                Labels(callsite)
            )?;
        }
    }
    Ok(())
}

fn visible_overhead(out: &mut String, report: &Report) -> fmt::Result {
    const NAME: &str = "tsc_visible_overhead_ticks";
    writeln!(
        out,
        "# TYPE {NAME} gauge\n# UNIT {NAME} ticks\n# HELP {NAME} What a probe sees of itself, in each gross tick count."
    )?;
    for callsite in &report.callsites {
        writeln!(
            out,
            "{NAME}{{{}}} {}",
            Labels(callsite),
            callsite.sums.visible()
        )?;
    }
    Ok(())
}

fn histograms(out: &mut String, report: &Report) -> fmt::Result {
    const NAME: &str = "tsc_call_gross_ticks";
    writeln!(
        out,
        "# TYPE {NAME} histogram\n# UNIT {NAME} ticks\n# HELP {NAME} Gross ticks of a call; without first and interrupted calls."
    )?;
    for callsite in &report.callsites {
        let labels = Labels(callsite);
        for octave in OCTAVES {
            let end = 1 << octave;
            let calls: u64 = callsite
                .histogram
                .iter()
                .filter(|bucket| bucket.from_ticks < end)
                .map(|bucket| bucket.calls)
                .sum();
            writeln!(out, "{NAME}_bucket{{{labels},le=\"{}\"}} {calls}", end - 1)?;
        }
        let samples = callsite.samples;
        writeln!(out, "{NAME}_bucket{{{labels},le=\"+Inf\"}} {samples}")?;
        writeln!(out, "{NAME}_count{{{labels}}} {samples}")?;
        if callsite.sums.sum >= 0 {
            writeln!(out, "{NAME}_sum{{{labels}}} {}", callsite.sums.sum)?;
        }
    }
    Ok(())
}

/// What names a callsite.
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

#[cfg(test)]
mod tests {
    use super::super::data::histogram::tests::histogram;
    use super::super::{CallsiteSums, Clock};
    use super::*;

    fn report() -> Report {
        let clock = Clock {
            hz: Some(2.6e9),
            ..Clock::default()
        };
        let mut callsite = CallsiteReport {
            name: "a\"b\\c\nd".to_owned(),
            module: "app".to_owned(),
            file: "src/main.rs".to_owned(),
            line: 7,
            histogram: histogram([31, 32, 1000, 1 << 40]),
            sums: CallsiteSums {
                samples: 4,
                sum: 31 + 32 + 1000 + (1 << 40),
                visible_milliticks: 4 * 60_500,
                ..CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        callsite.derive(&clock);
        Report {
            clock,
            callsites: vec![callsite],
            ..Report::default()
        }
    }

    #[test]
    fn buckets_are_cumulative_up_to_all() {
        let text = report().openmetrics();
        let at = |le: &str| {
            let line = text
                .lines()
                .find(|line| line.contains(&format!("le=\"{le}\"")));
            line.and_then(|line| line.rsplit(' ').next())
                .map(str::to_owned)
        };
        let of = ["31", "63", "511", "1023", "68719476735", "+Inf"].map(|le| at(le).unwrap());
        assert_eq!(of, ["1", "2", "2", "3", "3", "4"]);
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn labels_are_escaped_and_every_sample_has_its_family() {
        let text = report().openmetrics();
        assert!(
            text.contains(
                r#"tsc_calls_total{module="app",name="a\"b\\c\nd",location="src/main.rs:7"} 4"#
            ),
            "{text}"
        );
        let mut family = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                family = rest.split(' ').next().unwrap();
            } else if !line.starts_with('#') {
                assert!(line.starts_with(family), "{line} in {family}");
            }
        }
    }

    #[test]
    fn negative_sums_are_left_out() {
        let mut report = report();
        report.callsites[0].self_ticks = -3.0;
        let text = report.openmetrics();
        assert!(!text.contains("tsc_self_ticks_total{"), "{text}");
        assert!(text.contains("tsc_inclusive_ticks_total{"), "{text}");
    }
}
