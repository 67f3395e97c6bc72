//! Measures both sides in rounds. In a round, the side before is measured twice: the difference of the same code, and the two runs have the
//! other side's between them, so that a machine that becomes slower does not make one side slower.

use anyhow::{Result, bail};

use super::{Side, duet, orders_of};
use crate::command_line::AbArgs;
use crate::cpus;
use crate::execute::{Batch, Ended};
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::progress::{self, remark, warn};
use crate::session::Run;
use crate::verbs::outcome;

/// The variable with which the environment is made longer where the functions cannot be ordered.
const PADDING: &str = "CARGO_TSC_PADDING";

/// Runs both sides as often as requested. Returns an exit status if there is nothing to compare.
pub fn measure(args: &AbArgs, sides: &mut [Side; 2]) -> Result<Option<Exit>> {
    let orders = orders_of(args);
    let least = sides.iter().map(|side| side.orders.len()).min();
    let is_linked_in_orders = orders > 1 && least >= Some(2);
    if orders > 1 && !is_linked_in_orders {
        remark(
            "the functions cannot be linked in several orders, which takes the linker lld: the size of the environment is varied instead",
        );
    }
    let mut inputs = [Input::for_runs(2)?, Input::Inherited];
    let cpus = duet::cpus(args, &sides[0].orders[0], &mut inputs)?;
    // Which sides run at once, or one after the other.
    let (turns, how): (&[&[usize]], _) = match cpus {
        Some(_) => (&[&[0, 1], &[0, 1]], "both revisions at once, twice"),
        None => (&[&[0], &[1], &[0]], "before, after, and before again"),
    };
    let of_round: usize = turns.iter().map(|turn| turn.len()).sum();
    let runs = u64::from(args.runs) * of_round as u64;
    remark(&format!("a round runs {how}: {runs} runs in all"));
    let bar = progress::runs("measuring in turns", runs);
    progress::show(&bar);
    for round in 0..args.runs {
        for (place, of_sides) in turns.iter().enumerate() {
            let order = round % orders;
            let turn = Turn {
                round,
                place,
                order,
                linked: if is_linked_in_orders {
                    order as usize + 1
                } else {
                    0
                },
                cpus,
            };
            let ended = turn.run(of_sides, sides, &mut inputs).into_iter();
            bar.inc(of_sides.len() as u64);
            // Both are entered before the work may end, because reports that a session does not list are left out.
            let entered = ended.map(|(side, ended)| turn.enter(&mut sides[side], ended?));
            let entered: Vec<Result<Option<u8>>> = entered.collect();
            for status in entered {
                if let Some(status) = interrupt::status().or(status?) {
                    return Ok(Some(Exit::Program(status)));
                }
            }
        }
    }
    bar.finish_and_clear();
    Ok(None)
}

/// A run of one side, or of both at once.
struct Turn {
    round: u32,
    /// Its place in the round.
    place: usize,
    /// Of the functions in the program, or how much longer the environment is.
    order: u32,
    /// Which of a side's programs run. The one in the order as it is, 0, serves only where it is to be the only one.
    linked: usize,
    cpus: Option<[usize; 2]>,
}

impl Turn {
    fn run(
        &self,
        of_sides: &[usize],
        sides: &[Side],
        inputs: &mut [Input; 2],
    ) -> Vec<(usize, Result<Ended>)> {
        let [first, second] = inputs;
        let once = |side: usize, input: &mut Input| self.once(side, &sides[side], input);
        match of_sides {
            [side] => vec![(*side, once(*side, first))],
            _ => {
                let (one, other) = duet::both(|| once(0, first), || once(1, second));
                vec![(0, one), (1, other)]
            }
        }
    }

    /// Runs a side's programs once.
    fn once(&self, number: usize, side: &Side, input: &mut Input) -> Result<Ended> {
        let reports = side.session.next_run()?;
        let mut variables = outcome::until_killed();
        variables.push((PADDING, "x".repeat(24 * self.order as usize)));
        let swapped = (self.round as usize + self.place + number) % 2;
        let cpu = self.cpus.map(|cpus| cpus[swapped]);
        if let Some(cpu) = cpu {
            cpus::stay_on(cpu)?;
        }
        let executables = &side.orders[self.linked];
        let batch = Batch {
            reports: Some(&reports),
            variables: &variables,
            ..Batch::silent(executables)
        };
        let ended = batch.run_once(input)?;
        Ok(Ended {
            // Of two programs at once, only the sum is known.
            cpu_seconds: ended.cpu_seconds.filter(|_| cpu.is_none()),
            ..ended
        })
    }

    /// Adds a run to a side's session. Returns its status if that is not 0.
    fn enter(&self, side: &mut Side, ended: Ended) -> Result<Option<u8>> {
        let report = side.session.enter(Run {
            round: Some(self.round),
            order: Some(self.order),
            ..Run::new(ended)
        })?;
        if ended.status != 0 {
            let why = match self.cpus {
                Some(_) if interrupt::status().is_none() => {
                    "; both sides ran at once, so try --no-duet if it needs a port or a file for itself"
                }
                _ => "",
            };
            let how = outcome::ended(ended, "");
            warn(&format!("{}: {how}{why}", side.revision));
            return Ok(Some(ended.status));
        }
        if report.is_none_or(|report| report.callsites().is_empty()) {
            bail!(
                "{}: nothing was measured: add #[cycles] to functions that the program calls",
                side.revision
            );
        }
        Ok(None)
    }
}
