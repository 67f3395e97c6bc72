//! `cargo tsc run --all`.

use anyhow::{Result, ensure};

use super::round::{ROUNDS, Round};
use crate::all::beside::Beside;
use crate::all::{Copies, Runtime, Wanted};
use crate::build::{CargoCommand, Executable, Project};
use crate::command_line::RunArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::progress::{self, counted};
use crate::session::{About, Store};
use crate::verbs::outcome;

/// What to say where there is no probe.
const NOTHING: &str = "nothing can be annotated: every function is const, a test, too short for a probe, has a fence or a record in its own #[cycles], or does \
                       not compile with an attribute; `cargo tsc run` measures those with #[cycles]";

/// Measures every function of a project, in a copy of the project.
///
/// # Errors
/// If the project cannot be copied, built, run or reported.
pub fn run(args: &RunArgs, command: &CargoCommand) -> Result<Exit> {
    let project = Project::find_members(command, &std::env::current_dir()?)?;
    let store = Store::new(project.target());
    let runtime = Runtime::find(args.runtime.as_deref())?;
    let _lock = store.lock("all")?;
    let mut copies = Copies::new(&project, command, wanted(args))?;
    outcome::say_what_to_expect(&project, command)?;
    outcome::say_where_it_is_built(command);
    // The program without measurement is built first. If this fails, the attributes are not the reason.
    let bare = copies.bare(&runtime)?;
    measure(args, &store, &mut copies, &runtime, &bare)
}

/// Measures in rounds, each with other probes, and prints the last one.
fn measure(
    args: &RunArgs,
    store: &Store,
    copies: &mut Copies<'_>,
    runtime: &Runtime,
    bare: &[Executable],
) -> Result<Exit> {
    let mut input = Input::for_runs(2)?;
    let known = copies.known_choice(runtime, args.only.as_ref())?;
    // What was chosen before is not chosen again.
    let found = known.read().map(|chosen| (ROUNDS, chosen));
    let (first_round, mut chosen) = found.unwrap_or_default();
    copies.choose(&chosen);
    for number in first_round.. {
        let measured = copies.annotated(runtime)?;
        ensure!(copies.attributes != 0, NOTHING);
        let round = Round {
            args,
            number,
            is_shown: number == first_round,
            measured: &measured,
            beside: Beside::new(bare),
            session: store.begin(args.name.as_deref(), about(args))?,
            input: &mut input,
            ends_soon: chosen.ends_soon,
            is_timed: copies.light == 0,
            bar: progress::runs(&title(number, chosen.bare.len()), u64::from(args.runs)),
        };
        let (mut round, mut outcome) = round.begin()?;
        let is_compared = !outcome.interrupted && !outcome.has_crashed();
        if is_compared {
            chosen.ends_soon = round.find_end()?;
            if let Some(choice) = round.choice(copies, &chosen)? {
                copies.choose(&choice);
                chosen.add(choice);
                round.discard()?;
                continue;
            }
            // After a signal, these are not the probes that were chosen.
            if interrupt::status().is_none() {
                known.write(chosen.clone())?;
            }
            round.others(&mut outcome)?;
        } else {
            known.forget_end()?;
        }
        return outcome::print(
            args,
            round.end(copies, &chosen, is_compared)?,
            store,
            &outcome,
        );
    }
    unreachable!("the last round keeps its probes")
}

/// The title of the progress bar. When probes have been chosen, the runs begin again.
fn title(round: usize, left_out: usize) -> String {
    match round {
        0 => "measuring every function".to_owned(),
        _ => format!("measuring without {}", counted(left_out, "function")),
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
        ..About::of(&args.cargo.with(&args.command))
    }
}
