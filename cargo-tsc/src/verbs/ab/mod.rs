//! `cargo tsc ab REV1 REV2`: measures two revisions in turns, and compares them.

mod duet;
mod manifest;
mod rounds;
mod submodules;
mod worktree;

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use anyhow::{Result, bail};

use crate::build::{Build, CargoCommand, Executable, Measurement, Project, What, links, sharing};
use crate::command_line::{AbArgs, ORDERS};
use crate::diff::Policy;
use crate::exit::Exit;
use crate::interrupt;
use crate::progress::remark;
use crate::session::{self, About, Store, Writer};
use crate::verbs::{diff, run};
use worktree::{Checkout, Repository};

/// Runs the verb.
///
/// # Errors
/// If a revision cannot be checked out, built or run.
pub fn ab(args: &AbArgs) -> Result<Exit> {
    let What::Cargo(command) = What::parse(&args.cargo.with(&args.command))? else {
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
    let build = |name, revision, checkout| {
        Side::build(name, revision, checkout, &command, &folder, args, &store)
    };
    let mut sides = [
        build("before", &args.before, &before)?,
        build("after", &args.after, &after)?,
    ];
    let ids = [0, 1].map(|side| format!("{:016x}", RandomState::new().hash_one(side)));
    for (side, other) in [(0, 1), (1, 0)] {
        let about = &mut sides[side].session.about;
        about.id = Some(ids[side].clone());
        about.interleaved_with = Some(ids[other].clone());
    }
    if let Some(exit) = rounds::measure(args, &mut sides)? {
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
    let policy = Policy::of(&args.judgement);
    let (exit, comparison) = diff::show(&before, &after, &policy, &args.judgement)?;
    remark(&format!(
        "kept as {} and {}",
        sides[0].name(),
        sides[1].name()
    ));
    Ok(comparison.map_or(exit, |comparison| diff::shown(&comparison, &policy)))
}

/// A revision that has been built.
struct Side {
    pub revision: String,
    /// The program in each order of its functions: first, the order as it is.
    pub orders: Vec<Vec<Executable>>,
    pub session: Writer,
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
        let command = &checkout.command(command)?;
        let project = Project::find(command, &checkout.folder())?;
        // Cargo compares the times of files. Files of the working tree may be older than what was built from another revision, so the two
        // use different target folders and, for what they have in common, different wrappers.
        let (kind, number) = match (checkout.is_working_tree(), name) {
            (true, _) => ("working-tree", 0),
            (false, "before") => (name, 1),
            (false, _) => (name, 2),
        };
        let target = folder.join(format!("{kind}-target"));
        let linked = target.join("links");
        let build = Build {
            project: &project,
            command,
            folder: &checkout.folder(),
            target: Some(target),
            intermediate: sharing::can_share(&project).then(|| folder.join("ab-build")),
            environment: links::environment(&linked, number),
            title: format!("building {revision}"),
        };
        let executables = build
            .executables(Measurement::On)
            .map_err(|error| error.context(revision.to_owned()))?;
        let of_each: Vec<Vec<Executable>> = executables
            .iter()
            .map(|executable| links::orders(&linked, executable))
            .collect();
        let in_order = |order: usize| {
            of_each
                .iter()
                .map(|orders| orders.get(order).cloned())
                .collect()
        };
        let orders = (0..ORDERS as usize).map_while(in_order);
        let about = About {
            schema: 1,
            command: run::texts(&args.cargo.with(&args.command)),
            remarks: vec![format!("revision {revision}")],
            ..About::default()
        };
        let session_name = format!("{}-{name}", args.name.as_deref().unwrap_or("ab"));
        let session = store.begin(Some(&session_name), about)?;
        Ok(Self {
            revision: revision.to_owned(),
            orders: std::iter::once(executables.clone()).chain(orders).collect(),
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
}
