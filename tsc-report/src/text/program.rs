//! The first line: what the program took, and what of that its probes took.

use super::escaped;
use super::scale::time;
use crate::{CallsiteReport, Report};

/// Less time off the CPU is not mentioned: a single switch is less certain than this.
const LEAST_NS: f64 = 1000.0;

/// `hotspots took 128ms: CPU 119ms, 21.0 % of it probes`, `blocked 2.10ms`, and `waiting for a CPU 6.02ms`.
pub(super) fn parts(report: &Report) -> Vec<String> {
    let process = &report.process;
    let path = process.argv.first().map_or("the program", String::as_str);
    let name = escaped(path.rsplit(['/', '\\']).next().unwrap_or(path));
    let mut line = match report.processes {
        0 | 1 => format!("{name} took {}", time(process.duration_ns as f64)),
        many => format!("{many} processes, the first one {name}"),
    };
    let ns = report.clock.hz.map(|hz| 1e9 / hz);
    if let Some(cpu) = process.cpu_ns {
        line += &format!(": CPU {}", time(cpu as f64));
        let rows = report.callsites.iter();
        let probes: f64 = rows.map(|row| row.cost_of_probes(&report.clock)).sum();
        if let Some(share) = ns.map(|ns| probes * ns / (cpu as f64).max(1.0)) {
            line += &format!(", {:.1} % of it probes", (share * 100.0).min(100.0));
        }
    }
    let rows = report.callsites.iter();
    let blocked: f64 = rows.map(CallsiteReport::own_blocked).sum();
    let (mut parts, waiting) = (vec![line], report.waiting());
    for (what, ticks) in [("blocked", blocked), ("waiting for a CPU", waiting)] {
        if let Some(ns) = ns.map(|ns| ticks * ns).filter(|&ns| ns >= LEAST_NS) {
            parts.push(format!("{what} {}", time(ns)));
        }
    }
    parts
}

impl Report {
    /// How long measured functions waited for a CPU, as a multiple of the CPU time of the process.
    #[doc(hidden)]
    #[must_use]
    pub fn waiting_by_cpu(&self) -> Option<f64> {
        let cpu = self.process.cpu_ns.filter(|&ns| ns != 0)?;
        Some(self.waiting() * 1e9 / self.clock.hz? / cpu as f64)
    }

    fn waiting(&self) -> f64 {
        self.callsites.iter().map(CallsiteReport::own_waiting).sum()
    }
}

impl CallsiteReport {
    /// The ticks in which a thread was blocked outside annotated callees. Where it is unknown how long threads wait for a CPU, that is in it.
    pub(super) fn own_blocked(&self) -> f64 {
        self.self_ticks - self.self_on_cpu()
    }

    /// The same for waiting for a CPU.
    fn own_waiting(&self) -> f64 {
        let sums = &self.sums;
        if self.is_by_ticks() {
            sums.ticked_own_waiting as f64
        } else {
            sums.own_waiting as f64
        }
    }
}
