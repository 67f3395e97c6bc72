//! The program as it is, which runs beside the measured one, so that it is known how far the probes disturb.

use anyhow::Result;
use tsc_runtime::Report;

use super::prune::Measured;
use crate::build::Executable;
use crate::execute::{Input, Output, execute};
use crate::session::Writer;
use crate::statistics::median;

/// What starting a program and reporting takes is not the probes' doing.
const SLACK_SECONDS: f64 = 0.1;

/// The bare program's runs, each beside a measured one.
#[derive(Debug)]
pub struct Beside<'a> {
    bare: &'a [Executable],
    seconds: Vec<f64>,
    /// The status of the first run that did not end as the measured one before it.
    pub otherwise: Option<u8>,
}

impl<'a> Beside<'a> {
    /// Before the first run.
    #[must_use]
    pub fn new(bare: &'a [Executable]) -> Self {
        Self {
            bare,
            seconds: Vec::new(),
            otherwise: None,
        }
    }

    /// Runs it once, and enters its time beside the last measured run's.
    ///
    /// # Errors
    /// If it cannot be started, or the session not be written.
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
            // A status that is not 0 may be an answer, as grep's, and is no failure if both programs give it.
            if run.status != status {
                self.otherwise = self.otherwise.or(Some(status));
            }
        }
        session.save()
    }

    /// How many times.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.seconds.len()
    }

    /// What a run took.
    #[must_use]
    pub fn bare_seconds(&self) -> f64 {
        median(&self.seconds).unwrap_or(0.0)
    }

    /// How many times as long the measured runs took, beyond what every measured process takes; `None` if they cannot be compared.
    #[must_use]
    pub fn ratio(&self, session: &Writer, sum: &Report) -> Option<f64> {
        let (measured, bare) = (session.seconds()?, self.bare_seconds());
        let usable = self.otherwise.is_none() && bare > 0.0;
        usable.then(|| {
            if measured - bare > SLACK_SECONDS {
                return measured / bare;
            }
            // Too short to tell the probes from the rest, so by what they cost where that was calibrated.
            let ticks: f64 = Measured::all(sum)
                .iter()
                .map(|function| function.probes)
                .sum();
            let seconds = sum.clock().hz().map_or(0.0, |hz| ticks / hz);
            1.0 + seconds / self.runs() as f64 / bare
        })
    }
}
