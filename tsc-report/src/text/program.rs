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
        if let Some(share) = ns.map(|ns| share_of_probes(report, cpu as f64 / ns)) {
            line += &format!(", {:.1} % of it probes", share * 100.0);
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

/// What probes took of so many ticks of CPU time: at most what the rows leave of it. Light probes overlap with their surroundings, so they may
/// take less than they are calibrated to take.
fn share_of_probes(report: &Report, cpu: f64) -> f64 {
    let sum = |of: &dyn Fn(&CallsiteReport) -> f64| report.callsites.iter().map(of).sum::<f64>();
    let probes = sum(&|row| row.cost_of_probes(&report.clock));
    let own = sum(&CallsiteReport::self_on_cpu);
    probes.min(cpu - own).max(0.0) / cpu.max(1.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_and_rows_take_no_more_than_the_program() {
        let share = |own, probes| {
            let row = CallsiteReport {
                self_on_cpu_ticks: Some(own),
                probe_ticks: Some(probes),
                ..CallsiteReport::default()
            };
            let report = Report {
                callsites: vec![row],
                ..Report::default()
            };
            share_of_probes(&report, 1000.0)
        };
        assert_eq!((share(600.0, 100.0), share(600.0, 700.0)), (0.1, 0.4));
        assert_eq!(share(1100.0, 700.0), 0.0);
    }
}
