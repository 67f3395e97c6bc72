//! `cargo tsc ab REV1 REV2`.

use std::path::Path;

use anyhow::{Result, bail};

use super::worktree::{Checkout, Repository};
use crate::build::{Build, CargoCommand, Executable, Measurement, Project, What};
use crate::command_line::AbArgs;
use crate::diff::Policy;
use crate::execute::{Output, execute};
use crate::exit::Exit;
use crate::input::Input;
use crate::interrupt;
use crate::progress::{self, remark};
use crate::session::{self, About, Run, Store, Writer};
use crate::verbs::{diff, run};

/// Runs the verb.
///
/// # Errors
/// If a revision cannot be checked out, built or run.
pub fn ab(args: &AbArgs) -> Result<Exit> {
    let What::Cargo(command) = What::parse(&args.command)? else {
        bail!("ab builds what it compares: give it `run`, `test` or `bench`, not a program");
    };
    interrupt::outlive()?;
    let repository = Repository::here()?;
    let target = Project::find_members(&command, &std::env::current_dir()?)?
        .target()
        .to_owned();
    let store = Store::new(&target);
    let folder = store.folder().join(".ab");
    let _lock = store.lock("ab")?;
    std::fs::create_dir_all(&folder)?;
    repository.sweep(&folder)?;
    let before = repository.check_out(&args.before, &folder)?;
    let after = repository.check_out(&args.after, &folder)?;
    let mut sides = [
        Side::build(
            "before",
            &args.before,
            &before,
            &command,
            &folder,
            args,
            &store,
        )?,
        Side::build(
            "after",
            &args.after,
            &after,
            &command,
            &folder,
            args,
            &store,
        )?,
    ];
    let names = [sides[1].name(), sides[0].name()];
    for (side, other) in sides.iter_mut().zip(names) {
        side.session.about.interleaved_with = Some(other);
    }
    if let Some(exit) = take_turns(args, &mut sides)? {
        return Ok(exit);
    }
    let load = |side: &Side, revision: &String| {
        let mut session = session::load(Some(side.session.folder()), &store)?;
        session.label.clone_from(revision);
        anyhow::Ok(session)
    };
    let (before, after) = (
        load(&sides[0], &args.before)?,
        load(&sides[1], &args.after)?,
    );
    let (exit, _) = diff::show(
        &before,
        &after,
        &Policy::of(&args.judgement),
        &args.judgement,
    )?;
    remark(&format!(
        "kept as {} and {}",
        sides[0].name(),
        sides[1].name()
    ));
    Ok(exit)
}

/// A revision that has been built.
struct Side {
    revision: String,
    executables: Vec<Executable>,
    session: Writer,
}

impl Side {
    fn build(
        name: &str,
        revision: &str,
        checkout: &Checkout<'_>,
        command: &CargoCommand,
        folder: &Path,
        args: &AbArgs,
        store: &Store,
    ) -> Result<Self> {
        let project = Project::find(command, &checkout.folder())?;
        // Cargo compares the times of files. Files of the working tree may be older than what was built from another revision, so the two
        // use different target folders.
        let kind = if checkout.is_working_tree() {
            "working-tree"
        } else {
            name
        };
        let target = folder.join(format!("{kind}-target"));
        let build = Build {
            project: &project,
            command,
            folder: &checkout.folder(),
            target: Some(target),
            intermediate: None,
            environment: Vec::new(),
            title: format!("building {revision}"),
        };
        let executables = build
            .executables(Measurement::On)
            .map_err(|error| error.context(revision.to_owned()))?;
        let about = About {
            schema: 1,
            command: args
                .command
                .iter()
                .map(|word| word.display().to_string())
                .collect(),
            remarks: vec![format!("revision {revision}")],
            ..About::default()
        };
        let session_name = format!("{}-{name}", args.name.as_deref().unwrap_or("ab"));
        let session = store.begin(Some(&session_name), about)?;
        Ok(Self {
            revision: revision.to_owned(),
            executables,
            session,
        })
    }

    fn name(&self) -> String {
        self.session
            .folder()
            .file_name()
            .unwrap_or_default()
            .display()
            .to_string()
    }

    /// Runs the program once. Returns its status if that is not 0.
    fn run(&mut self, input: &mut Input) -> Result<Option<u8>> {
        let folder = self.session.next_run()?;
        let mut run = Run {
            cpu_seconds: Some(0.0),
            ..Run::default()
        };
        for executable in &self.executables {
            let ended = execute(
                executable,
                Some(&folder),
                &run::always(),
                input,
                Output::Hidden,
            )?;
            run.seconds += ended.seconds;
            run.cpu_seconds = run::sum(run.cpu_seconds, ended.cpu_seconds);
            run.status = run.status.max(ended.status);
        }
        let status = run.status;
        let report = self.session.enter(run)?;
        if status != 0 {
            remark(&format!(
                "{}: the program ended with status {status}",
                self.revision
            ));
            return Ok(Some(status));
        }
        if report.is_none_or(|report| report.callsites().is_empty()) {
            bail!(
                "{}: nothing was measured: add #[cycles] to functions that the program calls",
                self.revision
            );
        }
        Ok(None)
    }
}

/// Runs both sides as often as requested. Each pair begins with the side with which the previous pair ended, so that neither is always the
/// first. Returns an exit status if there is nothing to compare.
fn take_turns(args: &AbArgs, sides: &mut [Side; 2]) -> Result<Option<Exit>> {
    let mut input = Input::for_runs(2)?;
    let bar = progress::runs("measuring in turns", u64::from(args.runs) * 2);
    progress::show(&bar);
    for pair in 0..args.runs {
        let order = if pair % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let status = sides[side].run(&mut input)?;
            bar.inc(1);
            if let Some(status) = interrupt::status() {
                remark("interrupted; the runs so far are kept");
                return Ok(Some(Exit::Program(status)));
            }
            if let Some(status) = status {
                return Ok(Some(Exit::Program(status)));
            }
        }
    }
    bar.finish_and_clear();
    Ok(None)
}
