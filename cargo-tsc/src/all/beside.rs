//! The program without measurement. It runs in turns with the measured one, to find out how much the probes slow the program down.

use anyhow::Result;
use tsc_report::Report;

use super::choice::Runs;
use super::measured::Measured;
use crate::build::Executable;
use crate::execute::{Batch, Ended};
use crate::input::Input;
use crate::interrupt;
use crate::session::Writer;
use crate::statistics::median;

/// The time for starting a program and for the report, which the probes do not cause.
const SLACK_SECONDS: f64 = 0.1;
/// A run that takes less time than this is compared more than once, because the first one also reads files that are not in memory.
const SHORT_SECONDS: f64 = 2.0;
/// A run that takes less time than this reports only at its end. Then the runtime needs no thread that makes reports in the meantime. With it, the
/// allocator of glibc uses locks, as in a program with threads.
const SOON_SECONDS: f64 = 10.0;
/// A run that takes less time than this is compared more than once before functions are left out because of it.
pub const REPEATABLE_SECONDS: f64 = 5.0;
/// A run that takes less time than this, of which some may be waiting for a CPU, is compared twice before that. It takes less than the build that
/// would follow.
const CONFIRMED_SECONDS: f64 = 15.0;
/// The number of turns for a run shorter than [`SHORT_SECONDS`].
const TURNS: usize = 3;
/// A run that takes so many times as long as others was disturbed, and so were its figures.
const DISTURBED: f64 = 1.25;

/// The turns: a measured run, and one of the program without measurement.
#[derive(Debug)]
pub struct Beside<'a> {
    bare: &'a [Executable],
    turns: Vec<[Ended; 2]>,
    /// How many of the measured runs are in the session. The others are only compared.
    saved: usize,
    /// The status of the first run that ended differently from the measured run before it.
    pub otherwise: Option<u8>,
    /// Whether there were more turns because the first ones differed by more than probes can cost.
    pub again: bool,
}

impl<'a> Beside<'a> {
    /// Makes an empty list of turns.
    #[must_use]
    pub fn new(bare: &'a [Executable]) -> Self {
        Self {
            bare,
            turns: Vec::new(),
            saved: 0,
            otherwise: None,
            again: false,
        }
    }

    /// Runs the program once after a measured run, and saves its time beside that of the session's last run.
    ///
    /// # Errors
    /// If the program cannot be started, or the session cannot be written.
    pub fn run(&mut self, measured: Ended, session: &mut Writer, input: &mut Input) -> Result<()> {
        let bare = self.run_bare(input)?;
        self.saved += 1;
        self.turns.push([measured, bare]);
        // A status other than 0 may be a result, as for grep. It is a failure only if the two programs end differently.
        if measured.status != bare.status {
            self.otherwise = self.otherwise.or(Some(bare.status));
        }
        if let Some(run) = session.about.runs.last_mut() {
            run.bare_seconds = Some(bare.seconds);
            run.bare_cpu_seconds = bare.cpu_seconds;
        }
        session.save()
    }

    /// In a debug build, attributes of the project's own measure here, too, unless they are told not to.
    fn run_bare(&self, input: &mut Input) -> Result<Ended> {
        let bare = Batch {
            variables: &[("TSC_SKIP", ".".to_owned())],
            ..Batch::silent(self.bare)
        };
        bare.run_once(input)
    }

    /// Whether the program ends by itself soon, as far as is known. A signal may end the next run before its report. A service that failed to
    /// start ends with another status.
    #[must_use]
    pub fn ends_soon(&self) -> bool {
        let ends_itself = |ended: &Ended| ended.status == 0;
        let always = self.turns.iter().flatten().all(ends_itself);
        !self.turns.is_empty() && always && self.seconds().1 < SOON_SECONDS
    }

    /// Replaces the time of the last measured run by that of another one, which is not saved, unless a signal ends that.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn measure_again(
        &mut self,
        variables: &[(&'static str, String)],
        measured: &[Executable],
        input: &mut Input,
    ) -> Result<()> {
        let ended = measure(variables, measured, input);
        if interrupt::status().is_none()
            && let Some(last) = self.turns.last_mut()
        {
            last[0] = ended?;
        }
        Ok(())
    }

    /// Whether there should be another turn. If the machine seems to be slow, at least one more decides, however long it takes.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        match self.again {
            false => self.needs_turns(TURNS, SHORT_SECONDS),
            true => {
                self.needs_turns(2, f64::INFINITY)
                    || self.needs_turns(2 * TURNS, REPEATABLE_SECONDS)
            }
        }
    }

    /// Whether there should be another turn before functions are left out because the program is slow.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.needs_turns(TURNS, REPEATABLE_SECONDS) || self.needs_turns(2, CONFIRMED_SECONDS)
    }

    /// Whether there were fewer than so many turns, of runs that take less than so many seconds, on the CPU or asleep, and can be compared.
    fn needs_turns(&self, turns: usize, seconds: f64) -> bool {
        let takes = self.bare_seconds().max(self.seconds().1);
        self.otherwise.is_none() && self.turns.len() < turns && takes < seconds
    }

    /// Runs both programs once more, and only keeps their times.
    ///
    /// # Errors
    /// If a program cannot be started.
    pub fn turn(
        &mut self,
        variables: &[(&'static str, String)],
        measured: &[Executable],
        input: &mut Input,
    ) -> Result<()> {
        let measured = measure(variables, measured, input);
        let both = measured.and_then(|measured| Ok([measured, self.run_bare(input)?]));
        match both {
            // The user has had enough, and what was compared before is kept.
            _ if interrupt::status().is_some() => {}
            both => self.turns.push(both?),
        }
        Ok(())
    }

    /// The runs so far, from which probes are chosen.
    #[must_use]
    pub fn so_far(&self, sum: &Report) -> Runs {
        let seconds = self.bare_seconds();
        // What is left out is not measured again, so the smaller ratio decides.
        let of_medians = self.times().map_or(1.0, |(measured, bare)| measured / bare);
        let ratio = self.caused_by_probes(sum, of_medians.min(self.ratio_in_turns()));
        Runs {
            hz: sum.clock().hz().unwrap_or(f64::INFINITY),
            bare_seconds: seconds,
            ratio: ratio.unwrap_or(1.0),
            of_clock: self.clock_seconds(sum) / seconds.max(f64::MIN_POSITIVE),
            ends_soon: self.ends_soon(),
        }
    }

    /// The number of turns.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// The times of a measured and of a bare run.
    #[must_use]
    pub fn seconds(&self) -> (f64, f64) {
        let of = |side: usize| {
            self.median(side, |ended| Some(ended.seconds))
                .unwrap_or(0.0)
        };
        (of(0), of(1))
    }

    /// The CPU time of a bare run, or its time if CPU time is not known.
    fn bare_seconds(&self) -> f64 {
        self.bare_cpu_seconds().unwrap_or(self.seconds().1)
    }

    fn bare_cpu_seconds(&self) -> Option<f64> {
        self.median(1, |ended| ended.cpu_seconds)
    }

    /// The CPU times of a measured and of a bare run, if the system tells.
    #[must_use]
    pub fn cpu_seconds(&self) -> Option<(f64, f64)> {
        self.median(0, |ended| ended.cpu_seconds)
            .zip(self.bare_cpu_seconds())
    }

    /// The CPU time that measured runs usually take, if one of `seconds` was much slower.
    #[must_use]
    pub fn usual_of(&self, seconds: f64) -> Option<f64> {
        let (usual, _) = self.cpu_seconds()?;
        (can_tell(seconds, usual) && seconds > DISTURBED * usual).then_some(usual)
    }

    /// The median over all turns. `None` if a time is not known.
    fn median(&self, side: usize, of: impl Fn(&Ended) -> Option<f64>) -> Option<f64> {
        let times: Option<Vec<f64>> = self.turns.iter().map(|turn| of(&turn[side])).collect();
        median(&times?)
    }

    /// The CPU times of a measured run and of a bare one, or their times if CPU time is not known.
    #[must_use]
    pub fn times(&self) -> Option<(f64, f64)> {
        let times = self.cpu_seconds().unwrap_or(self.seconds());
        Some(times).filter(|&(_, bare)| bare > 0.0)
    }

    /// The ratio of [`times`](Self::times) as far as probes can cause it. `None` if the runs cannot be compared.
    #[must_use]
    pub fn ratio(&self, sum: &Report) -> Option<f64> {
        let (measured, bare) = self.times()?;
        self.caused_by_probes(sum, measured / bare)
    }

    /// A ratio of the runs' times as far as probes can cause it. `None` if the runs cannot be compared.
    fn caused_by_probes(&self, sum: &Report, ratio: f64) -> Option<f64> {
        let (measured, bare) = self.times().filter(|_| self.otherwise.is_none())?;
        let by_probes = |ticks: fn(&Measured) -> f64| 1.0 + self.per_run(sum, ticks) / bare;
        Some(if can_tell(measured, bare) {
            let at_most = by_probes(Measured::at_most) + self.clock_seconds(sum) / bare;
            ratio.min(at_most)
        } else {
            // The run is too short to distinguish the cost of the probes from the rest, so the calibrated cost is used.
            by_probes(|function| function.probes)
        })
    }

    /// What the probes cost, in words, if they make a run `ratio` times as long, as [`ratio`](Self::ratio) says. Where the runs tell more than
    /// the calibrated cost, that is the most that so many probes can cost.
    #[must_use]
    pub fn cost(&self, ratio: f64) -> String {
        let is_limit = self
            .times()
            .is_some_and(|(measured, bare)| can_tell(measured, bare));
        match is_limit {
            true => format!("the probes, by their number, cost at most {ratio:.2} ×"),
            false => {
                format!("by their calibrated cost, the probes make a run {ratio:.2} × as long")
            }
        }
    }

    /// The median ratio of a measured run to the bare one after it. Where a machine is slower for longer than a run, this is more certain than
    /// the ratio of medians. Infinite if there was no turn.
    fn ratio_in_turns(&self) -> f64 {
        let time = |ended: &Ended| ended.cpu_seconds.unwrap_or(ended.seconds);
        let ratios = self.turns.iter();
        let ratios = ratios.map(|[measured, bare]| time(measured) / time(bare));
        median(&ratios.collect::<Vec<_>>()).unwrap_or(f64::INFINITY)
    }

    /// Whether the measured runs took longer than the probes, which have been counted, can explain.
    #[must_use]
    pub fn is_unexplained(&self, sum: &Report) -> bool {
        let ratio = self.ratio(sum);
        self.times()
            .zip(ratio)
            .is_some_and(|((measured, bare), ratio)| can_tell(measured, ratio * bare))
    }

    /// The seconds of a run that this number of ticks is, added over all functions.
    fn per_run(&self, sum: &Report, ticks: fn(&Measured) -> f64) -> f64 {
        let ticks: f64 = Measured::all(sum).iter().map(ticks).sum();
        sum.clock().hz().map_or(0.0, |hz| ticks / hz) / self.saved.max(1) as f64
    }

    /// The CPU time that the clock of light probes takes in a run.
    fn clock_seconds(&self, sum: &Report) -> f64 {
        let all = sum.tick_clock().map_or(0, |clock| clock.cpu_ns()) as f64 / 1e9;
        all / self.saved.max(1) as f64
    }
}

/// Whether the times of a measured run and a bare one differ by more than what the probes do not cause.
fn can_tell(measured: f64, bare: f64) -> bool {
    measured - bare > SLACK_SECONDS
}

/// A measured run whose report is not kept.
fn measure(
    variables: &[(&'static str, String)],
    programs: &[Executable],
    input: &mut Input,
) -> Result<Ended> {
    let folder = tempfile::tempdir()?;
    let measured = Batch {
        reports: Some(folder.path()),
        variables,
        ..Batch::silent(programs)
    };
    measured.run_once(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(seconds: &[[f64; 2]]) -> Beside<'static> {
        let ended = |seconds: f64| Ended {
            status: 0,
            signal: None,
            seconds,
            cpu_seconds: Some(seconds),
        };
        Beside {
            turns: seconds.iter().map(|turn| turn.map(ended)).collect(),
            ..Beside::new(&[])
        }
    }

    #[test]
    fn a_machine_that_becomes_slower_does_not_change_the_ratio() {
        // From the second bare run on, everything takes three times as long.
        let beside = beside(&[[1.2, 1.0], [1.2, 3.0], [3.6, 3.0]]);
        assert_eq!(beside.seconds(), (1.2, 3.0));
        assert!((beside.ratio_in_turns() - 1.2).abs() < 1e-9);
    }

    #[test]
    fn a_single_turn_does_not_decide_unless_it_takes_long() {
        assert!(beside(&[[3.0, 2.0]]).is_undecided());
        assert!(!beside(&[[3.0, 2.0]; TURNS]).is_undecided());
        // It may have waited for a CPU for most of the time.
        let mut waits = beside(&[[3.0, 2.0]]);
        waits.turns[0][1].seconds = 12.0;
        assert!(waits.is_undecided());
        waits.turns.push(waits.turns[0]);
        assert!(!waits.is_undecided());
        assert!(!beside(&[[30.0, 20.0]]).is_undecided());
    }

    #[test]
    fn run_that_was_much_slower_than_others_is_unusual() {
        let beside = beside(&[[0.46, 0.3], [0.3, 0.3], [0.28, 0.3]]);
        assert_eq!(beside.usual_of(0.46), Some(0.3));
        // As may happen, and as the start of the first run may take.
        assert_eq!(beside.usual_of(0.37), None);
        assert_eq!(super::Beside::new(&[]).usual_of(0.46), None);
    }

    #[test]
    fn only_of_short_runs_the_calibrated_cost_is_said() {
        let cost = |measured: f64, bare: f64| beside(&[[measured, bare]]).cost(1.13);
        let short = "by their calibrated cost, the probes make a run 1.13 × as long";
        assert_eq!(cost(0.3, 0.25), short);
        let long = "the probes, by their number, cost at most 1.13 ×";
        assert_eq!(cost(1.25, 1.0), long);
    }

    #[test]
    fn a_program_that_sleeps_for_long_is_not_run_again() {
        let mut sleeps = beside(&[[0.1, 0.1]]);
        assert!(sleeps.is_unsure());
        sleeps.turns[0][1].seconds = 60.0;
        assert!(!sleeps.is_unsure());
    }

    #[test]
    fn a_machine_that_seems_slow_is_measured_again() {
        let again = |turns: &[[f64; 2]]| Beside {
            again: true,
            ..beside(turns)
        };
        assert!(again(&[[1.5, 1.0]; 2 * TURNS - 1]).is_unsure());
        assert!(!again(&[[1.5, 1.0]; 2 * TURNS]).is_unsure());
        assert!(again(&[[90.0, 60.0]]).is_unsure());
        assert!(!again(&[[90.0, 60.0]; 2]).is_unsure());
    }
}
