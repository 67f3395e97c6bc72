//! The first line: what the program took, and what of that its probes took.

use super::escaped;
use super::scale::time;
use crate::{CallsiteReport, Report};

/// Less time off the CPU is not mentioned: a single switch is less certain than this.
pub(super) const LEAST_NS: f64 = 1000.0;
/// A smaller share outside of all functions is not mentioned: it may be the start of the program.
const LEAST_OUTSIDE: f64 = 0.1;

/// `hotspots took 128ms: CPU 119ms, 21.0 % of it probes`, `12.1 % of CPU time outside measured functions`, `blocked 2.10ms`, and
/// `waiting for a CPU 6.02ms`.
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
    }
    let both = process.cpu_ns.zip(ns);
    let both = both.map(|(cpu, ns)| shares(report, cpu as f64, ns));
    if let Some((probes, _)) = both {
        line += &format!(", {:.1} % of it probes", probes * 100.0);
    }
    let mut parts = vec![line];
    // A timed call has no time before it ends.
    let is_known = !report
        .callsites
        .iter()
        .any(|row| row.running != 0 && !row.is_by_ticks());
    if let Some((_, outside)) = both.filter(|&(_, outside)| is_known && outside >= LEAST_OUTSIDE) {
        let outside = outside * 100.0;
        parts.push(format!(
            "{outside:.1} % of CPU time outside measured functions"
        ));
    }
    let blocked = report.sum(&CallsiteReport::own_blocked);
    let waiting = report.waiting();
    for (what, ticks) in [("blocked", blocked), ("waiting for a CPU", waiting)] {
        if let Some(ns) = ns.map(|ns| ticks * ns).filter(|&ns| ns >= LEAST_NS) {
            parts.push(format!("{what} {}", time(ns)));
        }
    }
    parts
}

/// What probes took of so many ns of CPU time, and what neither they nor the rows nor the clock of light probes did. Probes took at most what the
/// rows leave: light ones overlap with their surroundings, so they may take less than they are calibrated to take. Where it is unknown how long
/// a function was on the CPU, its row also has the time that it slept, and so does not limit them.
fn shares(report: &Report, cpu: f64, ns_per_tick: f64) -> (f64, f64) {
    let rows = report.callsites.iter();
    let cost = |row: &CallsiteReport| row.cost_of_probes(&report.clock) + row.extra_cost();
    let probes: f64 = rows.map(cost).sum();
    let own = ns_per_tick * report.sum(&CallsiteReport::self_on_cpu);
    let clock = report.tick_clock.as_ref().map_or(0, |clock| clock.cpu_ns);
    let left = (cpu - own).max(0.0);
    let mut rows = report.callsites.iter();
    let is_known = rows.all(|row| row.self_on_cpu_ticks.is_some());
    let most = if is_known { left } else { cpu };
    let probes = (ns_per_tick * probes).clamp(0.0, most);
    let outside = (left - probes - clock as f64).max(0.0);
    (probes / cpu.max(1.0), outside / cpu.max(1.0))
}

impl Report {
    /// How long measured functions waited for a CPU, as a multiple of the CPU time of the process.
    #[doc(hidden)]
    #[must_use]
    pub fn waiting_by_cpu(&self) -> Option<f64> {
        let cpu = self.process.cpu_ns.filter(|&ns| ns != 0)?;
        Some(self.waiting() * 1e9 / self.clock.hz? / cpu as f64)
    }

    /// The share of the program's CPU time that probes took, and the ticks in which it was blocked and waited for a CPU.
    #[doc(hidden)]
    #[must_use]
    pub fn facts(&self) -> [Option<f64>; 3] {
        let cpu = self.process.cpu_ns.zip(self.clock.hz);
        let mut rows = self.callsites.iter();
        let is_known = rows.clone().any(|row| row.self_on_cpu_ticks.is_some());
        let is_split = rows.any(|row| row.waiting_ticks.is_some());
        [
            cpu.map(|(ns, hz)| shares(self, ns as f64, 1e9 / hz).0),
            is_known.then(|| self.sum(&CallsiteReport::own_blocked)),
            is_split.then(|| self.waiting()),
        ]
    }

    fn waiting(&self) -> f64 {
        self.sum(&CallsiteReport::own_waiting)
    }

    /// The sum of what is the rows' own. What is a section's own is also that of the function around it, so sections count only where there
    /// are no functions.
    fn sum(&self, of: &dyn Fn(&CallsiteReport) -> f64) -> f64 {
        let is_all = self.callsites.iter().all(|row| row.is_section);
        let rows = self.callsites.iter();
        let rows = rows.filter(|row| is_all || !row.is_section);
        rows.map(of).sum()
    }
}

impl CallsiteReport {
    /// The ticks in which a thread was blocked outside annotated callees. Where it is unknown how long threads wait for a CPU, that is in it.
    #[doc(hidden)]
    #[must_use]
    pub fn own_blocked(&self) -> f64 {
        self.self_ticks - self.self_on_cpu()
    }

    /// What its probes took beyond their calibrated cost, as far as that is not in the times by ticks of the clock.
    fn extra_cost(&self) -> f64 {
        if self.is_by_ticks() {
            0.0
        } else {
            self.sums.extra_cost as f64
        }
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
    use crate::TickClock;
    use crate::data::LIGHT;

    /// A report on 1000 ns of CPU time, in ticks of 2 ns.
    fn report(own: f64, probes: f64, clock: u64) -> Report {
        let row = CallsiteReport {
            self_on_cpu_ticks: Some(own),
            probe_ticks: Some(probes),
            ..CallsiteReport::default()
        };
        let mut report = Report {
            callsites: vec![row],
            tick_clock: Some(TickClock {
                cpu_ns: clock,
                ..TickClock::default()
            }),
            ..Report::default()
        };
        report.process.cpu_ns = Some(1000);
        report.clock.hz = Some(5e8);
        report
    }

    #[test]
    fn probes_and_rows_take_no_more_than_the_program() {
        let both = |own, probes, clock| shares(&report(own, probes, clock), 1000.0, 2.0);
        assert_eq!(both(300.0, 50.0, 100), (0.1, 0.2));
        assert_eq!(both(300.0, 350.0, 100), (0.4, 0.0));
        assert_eq!(both(550.0, 350.0, 0), (0.0, 0.0));
    }

    #[test]
    fn asking_the_kernel_is_no_time_outside_of_functions() {
        let mut report = report(300.0, 0.0, 0);
        report.callsites[0].sums.extra_cost = 50;
        assert_eq!(shares(&report, 1000.0, 2.0), (0.1, 0.3));
        // It is in the times by ticks.
        report.callsites[0].probe = LIGHT.to_owned();
        assert_eq!(shares(&report, 1000.0, 2.0), (0.0, 0.4));
    }

    #[test]
    fn time_asleep_that_is_in_a_row_is_no_limit_for_probes() {
        let mut report = report(0.0, 150.0, 0);
        report.callsites[0].self_on_cpu_ticks = None;
        report.callsites[0].self_ticks = 1e6;
        assert_eq!(shares(&report, 1000.0, 2.0), (0.3, 0.0));
    }

    #[test]
    fn section_takes_no_time_beside_its_function() {
        let mut report = report(300.0, 50.0, 100);
        let section = CallsiteReport {
            is_section: true,
            self_ticks: 190.0,
            self_on_cpu_ticks: Some(150.0),
            ..CallsiteReport::default()
        };
        report.callsites.push(section);
        assert_eq!(shares(&report, 1000.0, 2.0), (0.1, 0.2));
        assert_eq!(report.sum(&CallsiteReport::own_blocked), -300.0);
        assert_eq!(report.facts(), [Some(0.1), Some(-300.0), None]);
        report.callsites.remove(0);
        assert_eq!(report.sum(&CallsiteReport::own_blocked), 40.0);
    }

    #[test]
    fn time_outside_of_functions_is_said_if_it_is_much() {
        let line = |own| parts(&report(own, 50.0, 100)).join("; ");
        let program = "the program took 0ns: CPU 1.00µs, 10.0 % of it probes";
        let outside = "; 12.0 % of CPU time outside measured functions";
        assert_eq!(line(340.0), format!("{program}{outside}"));
        assert_eq!(line(360.0), program);
        let mut runs = report(340.0, 50.0, 100);
        runs.callsites[0].running = 1;
        assert_eq!(parts(&runs).join("; "), program);
    }
}
