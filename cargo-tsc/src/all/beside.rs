//! The program without measurement. It runs beside the measured one, to find out how much the probes slow the program down.

use anyhow::Result;
use tsc_report::Report;

use super::choice::{Measured, Runs};
use crate::build::Executable;
use crate::execute::{Output, execute};
use crate::input::Input;
use crate::session::Writer;
use crate::statistics::median;
use crate::verbs::run::sum;

/// The time for starting a program and for the report, which the probes do not cause.
const SLACK_SECONDS: f64 = 0.1;

/// The runs of the program without measurement, each beside a measured run.
#[derive(Debug)]
pub struct Beside<'a> {
    bare: &'a [Executable],
    seconds: Vec<f64>,
    /// The CPU time of each run, or `None`.
    cpu_seconds: Option<Vec<f64>>,
    /// The status of the first run that ended differently from the measured run before it.
    pub otherwise: Option<u8>,
}

impl<'a> Beside<'a> {
    /// Makes an empty list of runs.
    #[must_use]
    pub fn new(bare: &'a [Executable]) -> Self {
        Self {
            bare,
            seconds: Vec::new(),
            cpu_seconds: Some(Vec::new()),
            otherwise: None,
        }
    }

    /// Runs the program once, and saves its time beside that of the last measured run.
    ///
    /// # Errors
    /// If the program cannot be started, or the session cannot be written.
    pub fn run(&mut self, session: &mut Writer, input: &mut Input) -> Result<()> {
        let (mut seconds, mut cpu_seconds, mut status) = (0.0, Some(0.0), 0);
        for executable in self.bare {
            let ended = execute(executable, None, &[], input, Output::Hidden)?;
            seconds += ended.seconds;
            cpu_seconds = sum(cpu_seconds, ended.cpu_seconds);
            if status == 0 {
                status = ended.status;
            }
        }
        self.seconds.push(seconds);
        self.cpu_seconds = self.cpu_seconds.take().zip(cpu_seconds).map(with);
        if let Some(run) = session.about.runs.last_mut() {
            run.bare_seconds = Some(seconds);
            run.bare_cpu_seconds = cpu_seconds;
            // A status other than 0 may be a result, as for grep. It is a failure only if the two programs end differently.
            if run.status != status {
                self.otherwise = self.otherwise.or(Some(status));
            }
        }
        session.save()
    }

    /// The runs so far, from which probes are chosen. The ratio is that of [`ratio`](Self::ratio).
    #[must_use]
    pub fn so_far(&self, sum: &Report, ratio: f64) -> Runs {
        let seconds = self.bare_cpu_seconds().unwrap_or(self.bare_seconds());
        let of_clock = sum.tick_clock().map_or(0, |clock| clock.cpu_ns()) as f64 / 1e9;
        Runs {
            hz: sum.clock().hz().unwrap_or(f64::INFINITY),
            bare_seconds: seconds,
            ratio,
            of_clock: of_clock / self.runs() as f64 / seconds.max(f64::MIN_POSITIVE),
        }
    }

    /// The number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.seconds.len()
    }

    /// The time of a run.
    #[must_use]
    pub fn bare_seconds(&self) -> f64 {
        median(&self.seconds).unwrap_or(0.0)
    }

    /// The CPU time of a run, if the system tells.
    #[must_use]
    pub fn bare_cpu_seconds(&self) -> Option<f64> {
        median(self.cpu_seconds.as_ref()?)
    }

    /// The CPU times of a measured run and of a bare one, or their times if CPU time is not known.
    #[must_use]
    pub fn times(&self, session: &Writer) -> Option<(f64, f64)> {
        let of_cpu = session.cpu_seconds().zip(self.bare_cpu_seconds());
        let by_clock = || Some((session.seconds()?, self.bare_seconds()));
        of_cpu.or_else(by_clock).filter(|&(_, bare)| bare > 0.0)
    }

    /// The ratio of [`times`](Self::times), without what every measured process needs. `None` if the runs cannot be compared.
    #[must_use]
    pub fn ratio(&self, session: &Writer, sum: &Report) -> Option<f64> {
        let (measured, bare) = self.times(session).filter(|_| self.otherwise.is_none())?;
        Some(self.slowdown(measured, bare, sum))
    }

    fn slowdown(&self, measured: f64, bare: f64, sum: &Report) -> f64 {
        if measured - bare > SLACK_SECONDS {
            return measured / bare;
        }
        // The run is too short to distinguish the cost of the probes from the rest, so the calibrated cost is used.
        let ticks: f64 = Measured::all(sum)
            .iter()
            .map(|function| function.probes)
            .sum();
        let seconds = sum.clock().hz().map_or(0.0, |hz| ticks / hz);
        1.0 + seconds / self.runs() as f64 / bare
    }
}

/// A list with one more value.
fn with((mut values, value): (Vec<f64>, f64)) -> Vec<f64> {
    values.push(value);
    values
}
