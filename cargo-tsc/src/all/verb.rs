//! `cargo tsc run --all`.

use std::io::{self, IsTerminal as _};

use anyhow::{Result, bail};

use super::beside::Beside;
use super::choice::{self, Measured, REPEATED};
use super::manifest::Runtime;
use super::remarks;
use super::tree::Tree;
use crate::build::{CargoCommand, Project};
use crate::command_line::RunArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::progress::{self, remark};
use crate::session::{About, Store};
use crate::verbs::run::{self, Outcome};

/// After at most this many rounds the probes stay as they are.
const ROUNDS: usize = 3;

/// Measures every function of a project, in a copy of the project.
///
/// # Errors
/// If the project cannot be copied, built, run or reported.
pub fn run(args: &RunArgs, command: &CargoCommand) -> Result<Exit> {
    let here = std::env::current_dir()?;
    let project = Project::find_members(command, &here)?;
    let store = Store::new(project.target());
    let runtime = Runtime::find(args.runtime.as_deref());
    let _lock = store.lock("all")?;
    let mut tree = Tree::new(&project, command, &here);
    if !command.is_optimised() {
        remark("this is a debug build: --release measures what users run");
    }
    // The program without measurement is built first. If this fails, the attributes are not the reason.
    let bare = tree.bare()?;
    let mut input = Input::for_runs(2)?;
    let mut left_out: Vec<Measured> = Vec::new();
    let mut renamed = None;
    for round in 0.. {
        let executables = tree.annotated(&runtime)?;
        if tree.attributes == 0 {
            bail!(
                "nothing can be annotated: every function is const, a test, or too short for a probe"
            );
        }
        let mut session = store.begin(args.name.as_deref(), about(args))?;
        session.remark = session.remark.or(renamed);
        let mut beside = Beside::new(&bare);
        let first = RunArgs {
            runs: 1,
            ..args.clone()
        };
        let quiet = round > 0;
        let bar = progress::runs(&title(round, left_out.len()), u64::from(args.runs));
        let mut outcome = run::runs(&first, &executables, &mut session, &mut input, quiet, &bar)?;
        if outcome.interrupted {
            bar.finish_and_clear();
            // If the user has ended the program, it is not started again.
            session.about.remarks = remarks::interrupted(&tree, &left_out);
            session.save()?;
            return run::print(args, session, &store, &outcome);
        }
        beside.run(&mut session, &mut input)?;
        outcome.interrupted = interrupt::status().is_some();
        let sum = session.sum()?;
        let ratio = match beside.ratio(&session, &sum) {
            // Writing to a terminal is slow, too. Only the output of the first round is shown.
            Some(_) if round == 0 && io::stdout().is_terminal() => 1.0,
            ratio => ratio.unwrap_or(1.0),
        };
        // The first round only serves to choose probes.
        if !outcome.interrupted && (round == 0 || (round < ROUNDS && ratio > REPEATED)) {
            let choice = choice::choose(Measured::all(&sum), beside.so_far(&sum, ratio));
            if round == 0 || !choice.bare.is_empty() {
                tree.choose(&choice);
                left_out.extend(choice.bare);
                renamed = session.discard()?;
                bar.finish_and_clear();
                continue;
            }
        }
        for _ in 1..args.runs {
            if outcome.status != 0 || outcome.interrupted {
                break;
            }
            let mut next = run::runs(&first, &executables, &mut session, &mut input, true, &bar)?;
            if !next.interrupted {
                beside.run(&mut session, &mut input)?;
                next.interrupted = interrupt::status().is_some();
            }
            outcome = Outcome {
                reported: outcome.reported + next.reported,
                ..next
            };
        }
        bar.finish_and_clear();
        session.about.remarks = remarks::of(&tree, &left_out, &beside, &session)?;
        session.save()?;
        return run::print(args, session, &store, &outcome);
    }
    unreachable!("the last round keeps its probes")
}

/// The title of the progress bar. When probes have been chosen, the runs begin again.
fn title(round: usize, left_out: usize) -> String {
    match (round, left_out) {
        (0, _) => "measuring every function".to_owned(),
        (_, 1) => "measuring without 1 function".to_owned(),
        _ => format!("measuring without {left_out} functions"),
    }
}

fn about(args: &RunArgs) -> About {
    About {
        all: true,
        ..run::about(args)
    }
}
