//! `cargo tsc run --all`.

use anyhow::{Result, bail};
use tsc_runtime::Report;

use super::manifest::Runtime;
use super::prune::{self, ALLOWED, Measured};
use super::tree::Tree;
use crate::build::{CargoCommand, Executable, Project};
use crate::command_line::RunArgs;
use crate::execute::{self, Ended, Input, Output, execute};
use crate::exit::Exit;
use crate::progress::remark;
use crate::session::{self, About, Store, Writer};
use crate::statistics::median;
use crate::verbs::run::{self, Outcome};

/// Rounds of leaving out what is not worth its probe.
const ROUNDS: usize = 5;
/// What starting a program and reporting takes is not the probes' doing.
const SLACK_SECONDS: f64 = 0.1;
/// So many names are said; the rest are counted.
const NAMES: usize = 5;

/// Measures every function of a project, in a copy.
///
/// # Errors
/// If it cannot be copied, built, run or reported.
pub fn run(args: &RunArgs, command: &CargoCommand) -> Result<Exit> {
    let here = std::env::current_dir()?;
    let project = Project::find_members(command, &here)?;
    let store = Store::new(project.target());
    let runtime = Runtime::find(args.runtime.as_deref());
    let mut tree = Tree::new(&project, command, &here);
    if !command.is_optimised() {
        remark("this is a debug build: --release measures what users run");
    }
    // The bare program first: what does not build does not for reasons of its own.
    let bare = tree.bare()?;
    let mut input = Input::for_runs(2)?;
    let mut pruned: Vec<Measured> = Vec::new();
    for round in 0.. {
        let executables = tree.annotated(&runtime)?;
        if tree.attributes == 0 {
            bail!(
                "nothing can be annotated: every function is const, a test, or too short for a probe"
            );
        }
        let mut session = store.begin(args.name.as_deref(), about(args))?;
        let mut beside = Beside {
            bare: &bare,
            seconds: Vec::new(),
            failed: None,
        };
        let first = RunArgs {
            runs: 1,
            ..args.clone()
        };
        let quiet = round > 0;
        let mut outcome = run::runs(&first, &executables, &mut session, &mut input, quiet)?;
        beside.run(&mut session, &mut input)?;
        let chosen = match beside.ratio(&session) {
            Some(ratio) if outcome.status == 0 && ratio > ALLOWED && round < ROUNDS => choose(
                &store,
                &session,
                ratio,
                median(&beside.seconds).unwrap_or(0.0),
            )?,
            _ => Vec::new(),
        };
        if !chosen.is_empty() && !execute::was_interrupted() {
            tree.prune(chosen.iter().map(|function| function.place.clone()));
            pruned.extend(chosen);
            session.discard()?;
            continue;
        }
        for _ in 1..args.runs {
            if outcome.status != 0 {
                break;
            }
            let next = run::runs(&first, &executables, &mut session, &mut input, true)?;
            beside.run(&mut session, &mut input)?;
            outcome = Outcome {
                reported: outcome.reported + next.reported,
                ..next
            };
        }
        session.about.remarks = remarks(&tree, &pruned, &beside, &store, &session)?;
        session.save()?;
        return run::print(args, &session, &store, &outcome);
    }
    unreachable!("the last round prunes nothing")
}

fn about(args: &RunArgs) -> About {
    About {
        all: true,
        ..run::about(args)
    }
}

fn choose(store: &Store, session: &Writer, ratio: f64, seconds: f64) -> Result<Vec<Measured>> {
    let sum = session::load(Some(session.folder()), store)?.sum()?;
    let ticks = seconds * sum.clock().hz().unwrap_or(0.0);
    Ok(prune::choose(Measured::all(&sum), ratio, ticks))
}

/// The bare program's runs, each beside a measured one.
struct Beside<'a> {
    bare: &'a [Executable],
    seconds: Vec<f64>,
    /// How the first bare run that failed did.
    failed: Option<Ended>,
}

impl Beside<'_> {
    fn run(&mut self, session: &mut Writer, input: &mut Input) -> Result<()> {
        let mut seconds = 0.0;
        for executable in self.bare {
            let ended = execute(executable, None, &[], input, Output::Hidden)?;
            seconds += ended.seconds;
            if ended.status != 0 {
                self.failed = self.failed.or(Some(ended));
            }
        }
        self.seconds.push(seconds);
        if let Some(run) = session.about.runs.last_mut() {
            run.bare_seconds = Some(seconds);
        }
        session.save()
    }

    /// How many times as long the measured runs took, beyond what every measured process takes.
    fn ratio(&self, session: &Writer) -> Option<f64> {
        let measured: Vec<f64> = session.about.runs.iter().map(|run| run.seconds).collect();
        let (measured, bare) = (median(&measured)?, median(&self.seconds)?);
        let usable = self.failed.is_none() && bare > 0.0;
        usable.then(|| {
            if measured - bare < SLACK_SECONDS {
                1.0
            } else {
                measured / bare
            }
        })
    }
}

/// What was done, and how far the measured run can be believed.
fn remarks(
    tree: &Tree<'_>,
    pruned: &[Measured],
    beside: &Beside<'_>,
    store: &Store,
    session: &Writer,
) -> Result<Vec<String>> {
    let mut remarks = vec![format!(
        "every function: {} annotated, {} too short for a probe, {} left out because their probes cost too much",
        tree.attributes,
        tree.too_short,
        pruned.len()
    )];
    let mut worst: Vec<&Measured> = pruned.iter().collect();
    worst.sort_by_key(|function| std::cmp::Reverse(function.calls));
    for function in worst.iter().take(NAMES) {
        remarks.push(format!(
            "  left out: {}, {} calls of {:.0} ticks",
            function.name,
            function.calls,
            function.self_ticks / function.calls.max(1) as f64
        ));
    }
    if worst.len() > NAMES {
        remarks.push(format!("  and {} more", worst.len() - NAMES));
    }
    let measured: Vec<f64> = session.about.runs.iter().map(|run| run.seconds).collect();
    match (beside.failed, median(&measured), median(&beside.seconds)) {
        (Some(ended), ..) => remarks.push(format!(
            "the bare program ended with status {}, so the runs cannot be compared",
            ended.status
        )),
        (None, Some(measured), Some(bare)) => {
            remarks.push(format!(
                "a run took {measured:.3} s, the bare program {bare:.3} s: {:.2} ×",
                measured / bare
            ));
            let sum = session::load(Some(session.folder()), store)?.sum()?;
            remarks.extend(root(&sum, bare, beside.seconds.len()));
            if beside.ratio(session).is_some_and(|ratio| ratio > ALLOWED) {
                remarks.push(costs(&sum));
            }
        }
        _ => {}
    }
    Ok(remarks)
}

/// Whether the outermost function's net time is the bare program's.
fn root(sum: &Report, bare: f64, runs: usize) -> Option<String> {
    let hz = sum.clock().hz()?;
    let root = sum
        .callsites()
        .iter()
        .filter(|row| row.name() == "main")
        .max_by(|a, b| a.total_ticks().total_cmp(&b.total_ticks()))?;
    let seconds = root.total_ticks() / hz / runs as f64;
    Some(format!(
        "main's net time is {seconds:.3} s, {:.2} × the bare program's run",
        seconds / bare
    ))
}

/// What still disturbs the run.
fn costs(sum: &Report) -> String {
    let mut rows: Vec<_> = sum.callsites().iter().collect();
    rows.sort_by(|a, b| b.overhead_ticks().total_cmp(&a.overhead_ticks()));
    let names: Vec<&str> = rows.iter().take(3).map(|row| row.name()).collect();
    format!(
        "still over {ALLOWED} ×; the most probes are in {}",
        names.join(", ")
    )
}
