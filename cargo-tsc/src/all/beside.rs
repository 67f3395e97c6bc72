//! The program without measurement. It runs beside the measured one, to find out how much the probes slow the program down.

use anyhow::Result;
use tsc_runtime::Report;

use super::prune::Measured;
use crate::build::Executable;
use crate::execute::{Input, Output, execute};
use crate::session::Writer;
use crate::statistics::median;

/// The time for starting a program and for the report, which the probes do not cause.
const SLACK_SECONDS: f64 = 0.1;

/// The runs of the program without measurement, each beside a measured run.
#[derive(Debug)]
pub struct Beside<'a> {
    bare: &'a [Executable],
    seconds: Vec<f64>,
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
            otherwise: None,
        }
    }

    /// Runs the program once, and saves its time beside that of the last measured run.
    ///
    /// # Errors
    /// If the program cannot be started, or the session cannot be written.
    pub fn run(&mut self, session: &mut Writer, input: &mut Input) -> Result<()> {
        let (mut seconds, mut status) = (0.0, 0);
        for executable in self.bare {
            let ended = execute(executable, None, &[], input, Output::Hidden)?;
            seconds += ended.seconds;
            if status == 0 {
                status = ended.status;
            }
        }
        self.seconds.push(seconds);
        if let Some(run) = session.about.runs.last_mut() {
            run.bare_seconds = Some(seconds);
            // A status other than 0 may be a result, as for grep. It is a failure only if the two programs end differently.
            if run.status != status {
                self.otherwise = self.otherwise.or(Some(status));
            }
        }
        session.save()
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

    /// How many times as long the measured runs took, without the time that every measured process needs. `None` if they cannot be
    /// compared.
    #[must_use]
    pub fn ratio(&self, session: &Writer, sum: &Report) -> Option<f64> {
        let (measured, bare) = (session.seconds()?, self.bare_seconds());
        let usable = self.otherwise.is_none() && bare > 0.0;
        usable.then(|| {
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
        })
    }
}
