//! `cargo tsc run`: builds with measurement, runs the program, and saves and prints the reports.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use indicatif::ProgressBar;

use crate::all;
use crate::build::{Build, CargoCommand, Executable, Measurement, Project, What};
use crate::command_line::RunArgs;
use crate::execute::{Ended, Output, execute};
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::nearest;
use crate::progress::{self, remark, shown, warn};
use crate::session::{About, Run, Store, Writer};
use crate::verbs::report;

/// What to do if nothing was measured.
const HOW: &str = "add #[cycles] to functions that the program calls, or use --all";

/// Runs the verb.
///
/// # Errors
/// If nothing can be built, run or reported.
pub fn run(args: &RunArgs) -> Result<Exit> {
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
        What::Cargo(command) if args.all => all::run(args, command),
        What::Cargo(command) => {
            let here = std::env::current_dir()?;
            let project = Project::find(command, &here)?;
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
    if !command.is_optimised() {
        remark("this is a debug build: --release measures what users run");
    }
    build.executables(Measurement::On)
}

/// Runs the programs as often as requested, saves their reports, and prints them.
fn measure(args: &RunArgs, executables: &[Executable], store: &Store) -> Result<Exit> {
    let mut input = Input::for_runs(args.runs)?;
    let mut session = store.begin(args.name.as_deref(), about(args))?;
    let bar = progress::runs("measuring", u64::from(args.runs));
    let outcome = match runs(args, executables, &mut session, &mut input, false, &bar) {
        Err(error) if session.about.runs.is_empty() => {
            session.discard()?;
            return Err(error);
        }
        outcome => outcome?,
    };
    bar.finish_and_clear();
    print(args, session, store, &outcome)
}

/// The description of a session.
pub fn about(args: &RunArgs) -> About {
    About {
        schema: 1,
        command: texts(&args.cargo.with(&args.command)),
        ..About::default()
    }
}

/// Words for people.
#[must_use]
pub fn texts(words: &[OsString]) -> Vec<String> {
    let texts = words.iter().map(|word| word.display().to_string());
    texts.collect()
}

/// How a program ended, if not with 0. Its status is also that of this program, which has a meaning of its own for some.
#[must_use]
pub fn ended(status: u8, signal: Option<i32>) -> String {
    match (signal, status) {
        (Some(signal), _) => format!("the program was ended by signal {signal}"),
        (None, 1..=3) => {
            format!("the program itself ended with status {status}, which is passed on")
        }
        (None, _) => format!("the program ended with status {status}"),
    }
}

/// The outcome of a session's runs.
pub struct Outcome {
    /// The first status that was not 0.
    pub status: u8,
    /// The signal of that run.
    pub signal: Option<i32>,
    /// The number of runs with a report.
    pub reported: usize,
    /// Whether the user ended the last run.
    pub interrupted: bool,
}

/// Runs everything `args.runs` times, or until a run fails. If `quiet` is true, the program's output was shown before and is not shown
/// again. `bar` may count other runs, too.
///
/// # Errors
/// If a program cannot be started, or if its report cannot be read.
pub fn runs(
    args: &RunArgs,
    executables: &[Executable],
    session: &mut Writer,
    input: &mut Input,
    quiet: bool,
    bar: &ProgressBar,
) -> Result<Outcome> {
    let mut outcome = Outcome {
        status: 0,
        signal: None,
        reported: 0,
        interrupted: false,
    };
    for index in 0..args.runs {
        let output = if quiet {
            Output::Hidden
        } else {
            output(args, index)
        };
        if output == Output::Hidden {
            // The bar is shown only now, so that it does not mix with the program's own output.
            progress::show(bar);
        }
        let ended = one_run(args, executables, session, input, output)?;
        bar.inc(1);
        outcome.reported += usize::from(ended.1);
        outcome.interrupted = interrupt::status().is_some();
        (outcome.status, outcome.signal) = (ended.0.status, ended.0.signal);
        if outcome.status != 0 || outcome.interrupted {
            break;
        }
    }
    Ok(outcome)
}

/// Only the first run shows the program's output; the others would repeat it.
fn output(args: &RunArgs, index: u32) -> Output {
    match index {
        0 if args.view.json || args.view.markdown => Output::Aside,
        0 => Output::Shown,
        _ => Output::Hidden,
    }
}

/// The sum of two times, if both are known.
#[must_use]
pub fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(one? + other?)
}

/// Runs every executable once. Returns how the first failed one, or the last one, ended, and whether there was a report.
fn one_run(
    args: &RunArgs,
    executables: &[Executable],
    session: &mut Writer,
    input: &mut Input,
    output: Output,
) -> Result<(Ended, bool)> {
    let folder = session.next_run()?;
    let variables = variables(args);
    let mut all = Ended {
        status: 0,
        signal: None,
        seconds: 0.0,
        cpu_seconds: Some(0.0),
    };
    for executable in executables {
        let ended = execute(executable, Some(&folder), &variables, input, output)?;
        all.seconds += ended.seconds;
        all.cpu_seconds = sum(all.cpu_seconds, ended.cpu_seconds);
        if all.status == 0 {
            (all.status, all.signal) = (ended.status, ended.signal);
        }
    }
    let run = Run {
        status: all.status,
        seconds: all.seconds,
        cpu_seconds: all.cpu_seconds,
        ..Run::default()
    };
    let report = session.enter(run)?;
    Ok((
        all,
        report.is_some_and(|report| !report.callsites().is_empty()),
    ))
}

/// The environment variables for the runtime that follow from the options.
#[must_use]
pub fn variables(args: &RunArgs) -> Vec<(&'static str, String)> {
    let mut variables = Vec::new();
    if let Some(only) = &args.only {
        variables.push(("TSC_ONLY", only.as_str().to_owned()));
    }
    if args.tree {
        variables.push(("TSC_TREE", "1".to_owned()));
    }
    if args.threads {
        variables.push(("TSC_THREADS", "1".to_owned()));
    }
    variables.extend(always());
    variables
}

/// The environment variables of every measured run.
pub fn always() -> Vec<(&'static str, String)> {
    // If the program is killed, there is a report of everything up to shortly before.
    match std::env::var_os("TSC_REPORT_EVERY") {
        Some(_) => Vec::new(),
        None => vec![("TSC_REPORT_EVERY", "10s".to_owned())],
    }
}

/// Prints the session's report, and returns the program's status.
///
/// # Errors
/// If nothing was measured.
pub fn print(args: &RunArgs, session: Writer, store: &Store, outcome: &Outcome) -> Result<Exit> {
    if let Some(sentence) = &session.remark {
        remark(sentence);
    }
    let how = ended(outcome.status, outcome.signal);
    if outcome.reported == 0 {
        let left_out = session.sum()?.left_out().to_vec();
        session.discard()?;
        if outcome.status != 0 {
            warn(&format!("{how}, and reported nothing: {HOW}"));
            return Ok(Exit::Program(outcome.status));
        }
        if let Some(only) = args.only.as_ref().filter(|_| !left_out.is_empty()) {
            bail!("{}", nearest::nothing_matches("--only", only, &left_out));
        }
        bail!("nothing was measured: {HOW}");
    }
    let printed = report::print_from(session.folder(), store, &args.view);
    remark(&format!("kept in {}", shown(session.folder())));
    printed?;
    if outcome.status != 0 {
        warn(&format!("{how}; what was measured until then is above"));
        return Ok(Exit::Program(outcome.status));
    }
    let runs = session.about.runs.len();
    if let Some(status) = interrupt::status().filter(|_| runs < args.runs as usize) {
        remark(&format!("interrupted in run {runs} of {}", args.runs));
        return Ok(Exit::Program(status));
    }
    Ok(Exit::Fine)
}
