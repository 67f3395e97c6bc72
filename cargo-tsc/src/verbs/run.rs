//! `cargo tsc run`: builds with measurement, runs the program, and saves and prints the reports.

mod round;
mod rounds;

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Result, bail};

use super::outcome::{print, run_once, say_what_to_expect, shown_output, variables};
use crate::build::{Build, CargoCommand, Executable, Measurement, Project, What};
use crate::command_line::RunArgs;
use crate::execute::Output;
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::progress::{self, remark};
use crate::session::{About, Store, Writer, check_name};

/// Runs the verb.
///
/// # Errors
/// If nothing can be built, run or reported.
pub fn run(args: &RunArgs) -> Result<Exit> {
    args.name.as_deref().map_or(Ok(()), check_name)?;
    let words = args.cargo.with(&args.command);
    let what = What::parse(&words)?;
    if words.len() > args.command.len()
        && let Some(verb @ ("run" | "test" | "bench")) =
            args.command.first().and_then(|word| word.to_str())
    {
        remark(&format!(
            "`{verb}` is an argument of the program, because cargo options come before `--`: what cargo {verb} runs is measured by `run -- {verb} …`"
        ));
    }
    interrupt::outlive()?;
    match &what {
        What::Cargo(command) if args.all => rounds::run(args, command),
        What::Cargo(command) => {
            let here = std::env::current_dir()?;
            let project = Project::find_for_build(command, &here)?;
            let store = Store::new(project.target());
            let executables = build(&project, command, &here)?;
            measure(args, &executables, &store)
        }
        What::Program(..) if args.all => {
            bail!("--all builds what it measures: give it `run`, `test` or `bench`, not a program")
        }
        What::Program(path, arguments) => {
            let program = Executable {
                path: path.clone(),
                arguments: arguments.clone(),
                folder: None,
                environment: Vec::new(),
            };
            measure(args, &[program], &Store::here())
        }
    }
}

fn build(project: &Project, command: &CargoCommand, here: &Path) -> Result<Vec<Executable>> {
    let build = Build {
        project,
        command,
        folder: here,
        target: None,
        intermediate: None,
        environment: Vec::new(),
        title: "building with measurement on".to_owned(),
    };
    say_what_to_expect(project, command)?;
    build.executables(Measurement::On)
}

/// Runs the programs as often as requested, saves their reports, and prints them.
fn measure(args: &RunArgs, executables: &[Executable], store: &Store) -> Result<Exit> {
    let built = stamps(executables);
    let mut input = Input::for_runs(args.runs)?;
    let about = About::of(&args.cargo.with(&args.command));
    let mut session = store.begin(args.name.as_deref(), about)?;
    let bar = progress::runs("measuring", u64::from(args.runs));
    let variables = variables(args, false, false);
    let mut run = |session: &mut Writer, output| {
        run_once(&variables, executables, session, &mut input, output, &bar)
    };
    let mut outcome = match run(&mut session, shown_output(args)) {
        Err(error) if session.about.runs.is_empty() => {
            session.discard()?;
            return Err(error);
        }
        outcome => outcome?,
    };
    let mut is_other = false;
    for _ in 1..args.runs {
        if outcome.is_last() {
            break;
        }
        is_other = stamps(executables) != built;
        if is_other {
            break;
        }
        outcome.then(run(&mut session, Output::Hidden)?);
    }
    bar.finish_and_clear();
    let exit = print(args, session, store, &outcome)?;
    if is_other {
        bail!(
            "the program was rebuilt meanwhile, so it was not run again: what is kept is from before"
        );
    }
    Ok(exit)
}

/// What is different after another build of the programs. Nothing is known of a program that the system finds by its name.
fn stamps(executables: &[Executable]) -> Vec<Option<(u64, SystemTime)>> {
    let files = executables.iter().map(|it| fs::metadata(&it.path).ok());
    let stamp = |file: Metadata| Some((file.len(), file.modified().ok()?));
    files.map(|file| file.and_then(stamp)).collect()
}
