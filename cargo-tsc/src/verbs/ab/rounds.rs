//! Measures both sides in rounds. In a round, the side before is measured twice: the difference of the same code, and the two runs have the
//! other side's between them, so that a machine that becomes slower does not make one side slower.

use anyhow::{Result, bail};

use super::{Side, duet};
use crate::build::Executable;
use crate::command_line::{AbArgs, ORDERS};
use crate::cpus;
use crate::execute::{Batch, Ended};
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::progress::{self, remark, warn};
use crate::session::Run;
use crate::verbs::run;

/// The variable with which the environment is made longer where the functions cannot be ordered.
const PADDING: &str = "CARGO_TSC_PADDING";

/// Runs both sides as often as requested. Returns an exit status if there is nothing to compare.
pub fn measure(args: &AbArgs, sides: &mut [Side; 2]) -> Result<Option<Exit>> {
    let orders = args.links.unwrap_or(args.runs.min(ORDERS));
    let least = sides.iter().map(|side| side.orders.len()).min();
    if orders > 1 && least < Some(2) {
        remark(
            "the functions cannot be linked in several orders, which takes the linker lld: the size of the environment is varied instead",
        );
    }
    let mut inputs = [Input::for_runs(2)?, Input::Inherited];
    let cpus = duet::cpus(args, &sides[0].orders[0], &mut inputs)?;
    // Which sides run at once, or one after the other.
    let slots: &[&[usize]] = match cpus {
        Some(_) => &[&[0, 1], &[0, 1]],
        None => &[&[0], &[1], &[0]],
    };
    let of_round: usize = slots.iter().map(|slot| slot.len()).sum();
    let runs = u64::from(args.runs) * of_round as u64;
    let how = match cpus {
        Some(_) => "both revisions at once, twice",
        None => "before, after, and before again",
    };
    remark(&format!("a round runs {how}: {runs} runs in all"));
    let bar = progress::runs("measuring in turns", runs);
    progress::show(&bar);
    for round in 0..args.runs {
        let order = round % orders;
        for (index, slot) in slots.iter().enumerate() {
            let run_once = |side: usize, input: &mut Input| {
                let swapped = (round as usize + index + side) % 2;
                let cpu = cpus.map(|cpus| cpus[swapped]);
                // The order as it is serves only where it is to be the only one.
                let of_side = &sides[side].orders;
                let linked = if orders > 1 { order as usize + 1 } else { 0 };
                let executables = of_side.get(linked).unwrap_or(&of_side[0]);
                once(
                    executables,
                    &sides[side].session.next_run()?,
                    order,
                    input,
                    cpu,
                )
            };
            let [first, second] = &mut inputs;
            let ended = match slot {
                [side] => vec![(*side, run_once(*side, first)?)],
                _ => {
                    let (one, other) = duet::both(|| run_once(0, first), || run_once(1, second));
                    vec![(0, one?), (1, other?)]
                }
            };
            bar.inc(slot.len() as u64);
            for (side, ended) in ended {
                let status = enter(&mut sides[side], ended, round, order)?;
                let interrupted = interrupt::status();
                if interrupted.is_some() {
                    remark("interrupted; the runs so far are kept");
                }
                if let Some(status) = interrupted.or(status) {
                    return Ok(Some(Exit::Program(status)));
                }
            }
        }
    }
    bar.finish_and_clear();
    Ok(None)
}

/// Runs a side's programs once.
fn once(
    executables: &[Executable],
    folder: &std::path::Path,
    order: u32,
    input: &mut Input,
    cpu: Option<usize>,
) -> Result<Ended> {
    let mut variables = run::until_killed();
    variables.push((PADDING, "x".repeat(24 * order as usize)));
    if let Some(cpu) = cpu {
        cpus::stay_on(cpu)?;
    }
    let batch = Batch {
        reports: Some(folder),
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
fn enter(side: &mut Side, ended: Ended, round: u32, order: u32) -> Result<Option<u8>> {
    let report = side.session.enter(Run {
        round: Some(round),
        order: Some(order),
        ..Run::new(ended)
    })?;
    if ended.status != 0 {
        let how = run::ended(ended);
        warn(&format!("{}: {how}", side.revision));
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
