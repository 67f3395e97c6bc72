//! What runs of a program gave: their reports, and how they ended.

use anyhow::{Result, bail};
use indicatif::ProgressBar;

use super::report;
use crate::build::{CargoCommand, Executable, Project, What};
use crate::command_line::RunArgs;
use crate::execute::{Batch, Ended, Output};
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::nearest;
use crate::output::unless_closed;
use crate::progress::{self, counted, remark, shown, warn};
use crate::session::{Run, Store, Writer};

/// What may have ended a program that only ends like this with probes.
const CRASH: &str = "if it ends well without measurement, its stack may be too small with it (a probe keeps the compiler from making the call at a \
                     function's end a jump), or C code leaves its functions by longjmp, as Lua's errors do. #[cycles(skip)] leaves out a function, \
                     and `--with '!NAME'` a crate";

/// Says whether the build is not optimised, and which tests of the command are not run.
///
/// # Errors
/// If the command names a package that does not exist.
pub fn say_what_to_expect(project: &Project, command: &CargoCommand) -> Result<()> {
    say_if_not_optimised(command);
    if project.has_doc_tests(command)? {
        remark("doc tests are not run, because cargo hands them to rustdoc");
    }
    Ok(())
}

/// Says whether the build is not optimised.
pub fn say_if_not_optimised(command: &CargoCommand) {
    if !command.is_optimised() {
        remark("this is a debug build: --release measures what users run");
    }
}

/// Says that copies and checkouts are not built in the folder that the command names.
pub fn say_where_it_is_built(command: &CargoCommand) {
    if !command.values("--target-dir", None).is_empty() {
        remark(
            "--target-dir has no effect here: copies are built in target/tsc, or in tsc in the folder that CARGO_TARGET_DIR names",
        );
    }
}

/// How a program ended, if not with 0, and `of` which runs that is said. Its status is also that of this program, which has a meaning of its
/// own for some.
#[must_use]
pub fn ended(ended: Ended, of: &str) -> String {
    match (ended.signal, ended.status) {
        (Some(signal), _) => format!("the program was ended by signal {signal}{of}"),
        (None, status @ 1..=3) => {
            format!("the program itself ended with status {status}{of}, which is passed on")
        }
        (None, status) => format!("the program ended with status {status}{of}"),
    }
}

/// The status of a program, or of tests, in which something panicked.
const PANICKED: u8 = 101;

/// The outcome of a session's runs.
pub struct Outcome {
    /// How the first one that failed ended or, if a later one was the last because of how it ended, that one.
    pub ended: Ended,
    /// Whether there was a report.
    pub is_reported: bool,
    /// Whether the user ended the last run.
    pub interrupted: bool,
}

impl Outcome {
    /// Whether no run is to follow. A status other than that of a panic may be a result, as for grep.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.interrupted || self.ended.signal.is_some() || self.ended.status == PANICKED
    }

    /// Whether the program was ended by a signal that was not the user's, before it reported anything.
    #[must_use]
    pub fn has_crashed(&self) -> bool {
        self.ended.signal.is_some() && !self.is_reported && !self.interrupted
    }

    /// Adds the next run.
    pub fn then(&mut self, next: Self) {
        let is_kept = self.ended.status != 0 && !next.is_last();
        *self = Self {
            ended: if is_kept { self.ended } else { next.ended },
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
pub fn variables(args: &RunArgs, ends_soon: bool, with_tree: bool) -> Vec<(&'static str, String)> {
    let mut variables = Vec::new();
    if let Some(only) = &args.only {
        variables.push(("TSC_ONLY", only.as_str().to_owned()));
    }
    if args.tree || with_tree {
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
    let runs = session.about.runs.len();
    let end = ended(outcome.ended, &of(args, &session, outcome.ended.status));
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
            if args.all && outcome.has_crashed() {
                remark(CRASH);
            }
            return Ok(Exit::Program(outcome.ended.status));
        }
        if let Some(only) = args.only.as_ref().filter(|_| !left_out.is_empty()) {
            bail!("{}", nearest::nothing_matches("--only", only, &left_out));
        }
        if let Some(one) = left_out.first() {
            let functions = counted(left_out.len(), "function");
            bail!(
                "nothing was measured: TSC_ONLY or TSC_SKIP leaves out {functions}, among them {one}"
            );
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
    if let Some(status) = interrupt::status().filter(|_| runs < args.runs as usize) {
        remark(&format!("interrupted in run {runs} of {}", args.runs));
        return Ok(Exit::Program(status));
    }
    Ok(Exit::Fine)
}

/// Of which runs this is the status. Empty if it is that of all.
fn of(args: &RunArgs, session: &Writer, status: u8) -> String {
    let runs = &session.about.runs;
    let same = runs.iter().filter(|run| run.status == status).count();
    match runs.len() {
        last if last < args.runs as usize => format!(" in run {last} of {}", args.runs),
        all if same < all => format!(" in {same} of {all} runs"),
        _ => String::new(),
    }
}

/// What to do if nothing was measured.
fn how(args: &RunArgs) -> &'static str {
    match What::parse(&args.cargo.with(&args.command)) {
        Ok(What::Program(..)) => {
            "a program must call functions with #[cycles], and be built with tsc-runtime/release-builds, as `cargo tsc run` without a program's path does"
        }
        _ => "add #[cycles] to functions that the program calls, or use --all",
    }
}
