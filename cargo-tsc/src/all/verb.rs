//! `cargo tsc run --all`.

use std::io::{self, IsTerminal as _};

use anyhow::{Result, bail};

use super::beside::Beside;
use super::choice::{self, Choice, Measured, REPEATED};
use super::dependencies::Wanted;
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
    let mut tree = Tree::new(&project, command, &here, wanted(args));
    if !command.is_optimised() {
        remark("this is a debug build: --release measures what users run");
    }
    // The program without measurement is built first. If this fails, the attributes are not the reason.
    let bare = tree.bare(&runtime)?;
    let mut input = Input::for_runs(2)?;
    let known = tree.known_choice(&runtime)?;
    let mut chosen = Choice::default();
    let mut renamed = None;
    let mut first_round = 0;
    if let Some(choice) = known.read() {
        tree.choose(&choice);
        (chosen, first_round) = (choice, 1);
    }
    for round in first_round.. {
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
        let quiet = round > first_round;
        let bar = progress::runs(&title(round, chosen.bare.len()), u64::from(args.runs));
        let mut outcome = run::runs(&first, &executables, &mut session, &mut input, quiet, &bar)?;
        if outcome.interrupted {
            bar.finish_and_clear();
            // If the user has ended the program, it is not started again.
            session.about.remarks = remarks::interrupted(&tree, &chosen.bare);
            session.save()?;
            return run::print(args, session, &store, &outcome);
        }
        beside.run(&mut session, &mut input)?;
        outcome.interrupted = interrupt::status().is_some();
        let sum = session.sum()?;
        let mut so_far = beside.so_far(&sum);
        // Writing to a terminal is slow, too. Only the output of the first round is shown.
        if !quiet && io::stdout().is_terminal() {
            so_far.ratio = 1.0;
        }
        // The first round only serves to choose probes.
        if !outcome.interrupted && (round == 0 || (round < ROUNDS && so_far.ratio > REPEATED)) {
            let choice = choice::choose(Measured::all(&sum), so_far);
            if round == 0 || !choice.bare.is_empty() {
                tree.choose(&choice);
                chosen.add(choice);
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
        while beside.is_unsure() && interrupt::status().is_none() {
            beside.turn(args, &executables, &mut input)?;
            if !beside.is_unsure() && !beside.again {
                beside.again = beside.is_unexplained(&session.sum()?);
            }
        }
        bar.finish_and_clear();
        known.write(chosen.clone())?;
        session.about.remarks = remarks::of(&tree, &chosen.bare, &beside, &session)?;
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

/// The dependencies to measure.
fn wanted(args: &RunArgs) -> Option<Wanted> {
    match &args.with {
        _ if args.with_deps => Some(Wanted::All),
        names if names.is_empty() => None,
        names => Some(Wanted::Named(names.clone())),
    }
}

fn about(args: &RunArgs) -> About {
    About {
        all: true,
        ..run::about(args)
    }
}
