//! `cargo tsc run`: builds with measurement, runs the program, and saves and prints the reports.

use std::path::Path;

use anyhow::{Result, bail};
use indicatif::ProgressBar;

use crate::all;
use crate::build::{Build, CargoCommand, Executable, Measurement, Project, What};
use crate::command_line::RunArgs;
use crate::execute::{Batch, Ended, Output};
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::nearest;
use crate::output::unless_closed;
use crate::progress::{self, remark, shown, warn};
use crate::session::{About, Run, Store, Writer, check_name};
use crate::verbs::report;

/// What to do if nothing was measured.
fn how(args: &RunArgs) -> &'static str {
    match What::parse(&args.cargo.with(&args.command)) {
        Ok(What::Program(..)) => {
            "a program must call functions with #[cycles], and be built with tsc-runtime/release-builds, as `cargo tsc run` without a program's path does"
        }
        _ => "add #[cycles] to functions that the program calls, or use --all",
    }
}

/// Runs the verb.
///
/// # Errors
/// If nothing can be built, run or reported.
pub fn run(args: &RunArgs) -> Result<Exit> {
    report::check(&args.view)?;
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
    say_what_to_expect(project, command)?;
    build.executables(Measurement::On)
}

/// Says whether the build is not optimised, and which tests of the command are not run.
///
/// # Errors
/// If the command names a package that does not exist.
pub fn say_what_to_expect(project: &Project, command: &CargoCommand) -> Result<()> {
    if !command.is_optimised() {
        remark("this is a debug build: --release measures what users run");
    }
    if project.has_doc_tests(command)? {
        remark("doc tests are not run, because cargo hands them to rustdoc");
    }
    Ok(())
}

/// Runs the programs as often as requested, saves their reports, and prints them.
fn measure(args: &RunArgs, executables: &[Executable], store: &Store) -> Result<Exit> {
    let mut input = Input::for_runs(args.runs)?;
    let about = About::of(&args.cargo.with(&args.command));
    let mut session = store.begin(args.name.as_deref(), about)?;
    let bar = progress::runs("measuring", u64::from(args.runs));
    let variables = variables(args, false);
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
    for _ in 1..args.runs {
        if outcome.is_last() {
            break;
        }
        outcome.then(run(&mut session, Output::Hidden)?);
    }
    bar.finish_and_clear();
    print(args, session, store, &outcome)
}

/// How a program ended, if not with 0. Its status is also that of this program, which has a meaning of its own for some.
#[must_use]
pub fn ended(ended: Ended) -> String {
    match (ended.signal, ended.status) {
        (Some(signal), _) => format!("the program was ended by signal {signal}"),
        (None, status @ 1..=3) => {
            format!("the program itself ended with status {status}, which is passed on")
        }
        (None, status) => format!("the program ended with status {status}"),
    }
}

/// The outcome of a session's runs.
pub struct Outcome {
    /// How the last one ended.
    pub ended: Ended,
    /// Whether there was a report.
    pub is_reported: bool,
    /// Whether the user ended the last run.
    pub interrupted: bool,
}

impl Outcome {
    /// Whether no run is to follow.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.ended.status != 0 || self.interrupted
    }

    /// Adds the next run.
    pub fn then(&mut self, next: Self) {
        *self = Self {
            is_reported: self.is_reported || next.is_reported,
            ..next
        };
    }
}

/// The output of the first run. The others would repeat it.
#[must_use]
pub fn shown_output(args: &RunArgs) -> Output {
    if args.view.json || args.view.markdown {
        Output::Aside
    } else {
        Output::Shown
    }
}

/// Runs everything once with these variables, and adds the run to the session. `bar` may count other runs, too.
///
/// # Errors
/// If a program cannot be started, or if its report cannot be read.
pub fn run_once(
    variables: &[(&'static str, String)],
    executables: &[Executable],
    session: &mut Writer,
    input: &mut Input,
    output: Output,
    bar: &ProgressBar,
) -> Result<Outcome> {
    if output == Output::Hidden {
        // The bar is shown only now, so that it does not mix with the program's own output.
        progress::show(bar);
    }
    let reports = session.next_run()?;
    let batch = Batch {
        programs: executables,
        reports: Some(&reports),
        variables,
        output,
    };
    let ended = batch.run_once(input)?;
    bar.inc(1);
    let report = session.enter(Run::new(ended))?;
    Ok(Outcome {
        ended,
        is_reported: report.is_some_and(|report| !report.callsites().is_empty()),
        interrupted: interrupt::status().is_some(),
    })
}

/// The environment variables for the runtime that follow from the options. A program that `ends_soon` reports only at its end.
#[must_use]
pub fn variables(args: &RunArgs, ends_soon: bool) -> Vec<(&'static str, String)> {
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
    match ends_soon && std::env::var_os("TSC_SIGNALS").is_none() {
        true => variables.push(("TSC_SIGNALS", "off".to_owned())),
        false => variables.extend(until_killed()),
    }
    variables
}

/// The environment variables of a run that may not end by itself.
pub fn until_killed() -> Vec<(&'static str, String)> {
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
    let end = ended(outcome.ended);
    if !outcome.is_reported {
        let left_out = session.sum()?.left_out().to_vec();
        let is_killed = outcome.ended.signal.is_some();
        if !outcome.interrupted && !is_killed && !session.is_written() {
            warn(&format!(
                "no report was written: the program calls no function with #[cycles], or it cannot write to {}",
                shown(store.folder())
            ));
        }
        session.discard()?;
        if outcome.ended.status != 0 {
            let why = match outcome.interrupted {
                true => "it was interrupted before its end",
                false if is_killed => "a signal that it cannot outlive leaves no report",
                false => how(args),
            };
            warn(&format!("{end}, and reported nothing: {why}"));
            return Ok(Exit::Program(outcome.ended.status));
        }
        if let Some(only) = args.only.as_ref().filter(|_| !left_out.is_empty()) {
            bail!("{}", nearest::nothing_matches("--only", only, &left_out));
        }
        bail!("nothing was measured: {}", how(args));
    }
    if let Some(sentence) = session.remark() {
        remark(&sentence);
    }
    let printed = report::print_from(session.folder(), store, &args.view);
    remark(&format!("kept in {}", shown(session.folder())));
    unless_closed(printed)?;
    if outcome.ended.status != 0 {
        warn(&format!("{end}; what was measured until then is above"));
        return Ok(Exit::Program(outcome.ended.status));
    }
    let runs = session.about.runs.len();
    if let Some(status) = interrupt::status().filter(|_| runs < args.runs as usize) {
        remark(&format!("interrupted in run {runs} of {}", args.runs));
        return Ok(Exit::Program(status));
    }
    Ok(Exit::Fine)
}
