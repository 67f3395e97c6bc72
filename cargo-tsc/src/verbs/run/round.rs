//! One round of `cargo tsc run --all`.

use std::io::{self, IsTerminal as _};

use anyhow::Result;
use indicatif::ProgressBar;
use tsc_report::Report;

use crate::all::beside::{Beside, REPEATABLE_SECONDS};
use crate::all::choice::{self, Choice, REPEATED, Runs};
use crate::all::crossing::Crossing;
use crate::all::measured::Measured;
use crate::all::{Copies, remarks};
use crate::build::Executable;
use crate::command_line::RunArgs;
use crate::execute::Output;
use crate::input::Input;
use crate::interrupt;
use crate::progress;
use crate::session::Writer;
use crate::verbs::outcome::{self, Outcome};

/// After at most this many rounds the probes stay as they are.
pub(super) const ROUNDS: usize = 3;

/// A build with certain probes, and its runs, in turns with those of the bare program.
pub(super) struct Round<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) number: usize,
    /// Whether the program's output is shown, as in the first round.
    pub(super) is_shown: bool,
    pub(super) measured: &'a [Executable],
    pub(super) beside: Beside<'a>,
    pub(super) session: Writer,
    pub(super) input: &'a mut Input,
    /// Whether the program ends by itself soon.
    pub(super) ends_soon: bool,
    /// Whether no probe is light. Then the call tree must be recorded, which light probes do not need.
    pub(super) is_timed: bool,
    pub(super) bar: ProgressBar,
}

impl Round<'_> {
    /// Makes the first turn. A session without a run is discarded.
    pub(super) fn begin(mut self) -> Result<(Self, Outcome)> {
        match self.first_turn() {
            Err(error) if self.session.about.runs.is_empty() => {
                self.discard()?;
                Err(error)
            }
            outcome => Ok((self, outcome?)),
        }
    }

    fn first_turn(&mut self) -> Result<Outcome> {
        let output = outcome::shown_output(self.args);
        if self.number == 0 {
            return self.turn(output);
        }
        if self.is_shown {
            // A program may do more where its output is read. So this run is only shown, unless the user ends it or another takes long.
            let outcome = self.run(output)?;
            if outcome.is_last() || outcome.ended.seconds > REPEATABLE_SECONDS {
                return self.beside_bare(outcome);
            }
            self.session.forget()?;
        }
        let outcome = self.turn(Output::Hidden);
        // It counts one of the two.
        self.bar.set_position(1);
        outcome
    }

    /// A measured run.
    fn run(&mut self, output: Output) -> Result<Outcome> {
        let variables = self.variables();
        let Self { input, session, .. } = self;
        outcome::run_once(&variables, self.measured, session, input, output, &self.bar)
    }

    /// A measured run, and one of the bare program. If the user has ended one, no other is started; nor if the measured program has crashed,
    /// because the bare one may run for much longer than that.
    fn turn(&mut self, output: Output) -> Result<Outcome> {
        let outcome = self.run(output)?;
        self.beside_bare(outcome)
    }

    fn beside_bare(&mut self, mut outcome: Outcome) -> Result<Outcome> {
        if !outcome.interrupted && !outcome.has_crashed() {
            let Self { input, session, .. } = self;
            let bare = self.beside.run(outcome.ended, session, input);
            outcome.interrupted = interrupt::status().is_some();
            // The measured run is kept without it.
            if !outcome.interrupted {
                bare?;
            }
        }
        Ok(outcome)
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        outcome::variables(self.args, self.ends_soon, self.is_timed)
    }

    /// Finds out whether the program ends by itself soon. If so, measures its time again as it will be measured from now on.
    pub(super) fn find_end(&mut self) -> Result<bool> {
        if !self.ends_soon && self.beside.ends_soon() {
            self.ends_soon = true;
            let variables = self.variables();
            self.beside
                .measure_again(&variables, self.measured, self.input)?;
        }
        Ok(self.ends_soon)
    }

    /// Other probes, with which the next round is to begin. `None` if these are kept.
    pub(super) fn choice(
        &mut self,
        copies: &Copies<'_>,
        chosen: &Choice,
    ) -> Result<Option<Choice>> {
        let (number, sum) = (self.number, self.session.sum()?);
        let light = chosen.without_return(&sum);
        if !light.is_empty() && number < ROUNDS {
            return Ok(Some(Choice {
                light,
                ..Choice::default()
            }));
        }
        let mut so_far = self.beside.so_far(&sum);
        // Writing to a terminal is slow, too.
        if number == 0 && io::stdout().is_terminal() {
            so_far.ratio = 1.0;
        }
        // What is left out is not measured again. So the ratio must not be that of a single run, which other programs may have slowed down.
        if number < ROUNDS && so_far.ratio > REPEATED {
            while self.beside.is_undecided() && interrupt::status().is_none() {
                self.compare()?;
            }
            so_far = self.beside.so_far(&sum);
        }
        // The first round only serves to choose probes.
        let is_kept = number > 0 && (number >= ROUNDS || so_far.ratio <= REPEATED);
        if is_kept || interrupt::status().is_some() {
            return Ok(None);
        }
        so_far.ends_soon &= number == 0; // afterwards, those that never return have become light
        let called = Measured::all(&sum);
        // In the first round, most of what probes took beyond their calibrated cost is that of others than those which stay.
        let times = match number {
            0 => 1.0,
            _ => so_far.times_calibrated(&called),
        };
        let crossing = Crossing::new(&sum, chosen.crossed, times);
        let (choice, are_kept) = choose(copies, &sum, called, so_far, crossing);
        let is_other =
            !(choice.bare.is_empty() && choice.inner.is_empty() && choice.filtered.is_empty());
        Ok(Some(choice).filter(|_| is_other || number == 0 && !are_kept))
    }

    /// The other runs that the user wants, and as many more as the comparison with the bare program needs.
    pub(super) fn others(&mut self, outcome: &mut Outcome) -> Result<()> {
        for _ in 1..self.args.runs {
            if outcome.is_last() || interrupt::status().is_some() {
                break;
            }
            outcome.then(self.turn(Output::Hidden)?);
        }
        while self.is_unsure() {
            self.compare()?;
        }
        self.beside.again = self.beside.is_unexplained(&self.session.sum()?);
        while self.is_unsure() {
            self.compare()?;
        }
        Ok(())
    }

    /// Whether there should be another comparison with the bare program.
    fn is_unsure(&self) -> bool {
        self.beside.is_unsure() && interrupt::status().is_none()
    }

    /// Runs both programs once more, and only keeps their times.
    fn compare(&mut self) -> Result<()> {
        let variables = self.variables();
        self.beside.turn(&variables, self.measured, self.input)
    }

    /// The session with its remarks.
    pub(super) fn end(
        mut self,
        copies: &Copies<'_>,
        chosen: &Choice,
        is_compared: bool,
    ) -> Result<Writer> {
        self.bar.finish_and_clear();
        let names = |of: &[Measured]| of.iter().map(|one| one.name.clone()).collect();
        self.session.about.without = names(&chosen.bare);
        self.session.about.inner = names(&chosen.inner);
        self.session.about.remarks = match is_compared {
            true => remarks::of(copies, chosen, &self.beside, &self.session)?,
            false => remarks::interrupted(copies, chosen),
        };
        self.session.save()?;
        Ok(self.session)
    }

    /// Forgets the runs.
    pub(super) fn discard(self) -> Result<()> {
        self.bar.finish_and_clear();
        self.session.discard()
    }
}

/// Chooses probes from the runs so far. Also returns whether all are kept, because none would be left.
fn choose(
    copies: &Copies<'_>,
    sum: &Report,
    mut called: Vec<Measured>,
    so_far: Runs,
    mut crossing: Crossing,
) -> (Choice, bool) {
    let all = called.len();
    for function in &mut called {
        function.is_inner &= copies.can_leave_out(&function.place);
    }
    for closure in called.iter().filter(|function| function.is_inner) {
        crossing.leave_out(&closure.place);
    }
    let mut choice = choice::choose(called, so_far, &mut |function| {
        copies.can_leave_out(&function.place) && crossing.leave_out(&function.place)
    });
    choice.crossed = crossing.share();
    let are_kept = !choice.bare.is_empty() && choice.bare.len() + choice.inner.len() == all;
    if are_kept {
        progress::remark(
            "every probe costs too much, but without them nothing would be measured: all are kept",
        );
        choice.bare.clear();
        choice.crossed = 0.0;
    }
    if all != 0 {
        choice.filtered = choice::filtered(sum);
        choice.filtered.retain(|place| copies.can_leave_out(place));
    }
    (choice, are_kept)
}
