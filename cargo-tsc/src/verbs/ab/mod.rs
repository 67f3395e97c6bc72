//! `cargo tsc ab REV1 REV2`: measures two revisions in turns, and compares them.

mod duet;
mod manifest;
mod rounds;
mod settings;
mod submodules;
mod worktree;

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::build::{
    Build, CargoCommand, Executable, Measurement, Project, What, links, sharing, wrappers,
};
use crate::command_line::{AbArgs, ORDERS};
use crate::exit::Exit;
use crate::interrupt::{self, Interrupted};
use crate::progress::{name_of, remark};
use crate::session::{self, About, Store, Writer};
use crate::verbs::{diff, outcome};
use worktree::{Checkout, Repository};

/// Runs the verb.
///
/// # Errors
/// If a revision cannot be checked out, built or run.
pub fn ab(args: &AbArgs) -> Result<Exit> {
    let What::Cargo(command) = What::parse(&args.cargo.with(&args.command))? else {
        bail!("ab builds what it compares: give it `run`, `test` or `bench`, not a program");
    };
    args.name.as_deref().map_or(Ok(()), session::check_name)?;
    interrupt::outlive()?;
    outcome::say_where_it_is_built(&command);
    let repository = Repository::here()?;
    let project = Project::find_members(&command, &std::env::current_dir()?)?;
    let store = Store::new(project.target());
    let folder = store
        .folder()
        .join(repository.name_of_folder(project.target()));
    let _lock = store.lock("ab")?;
    std::fs::create_dir_all(&folder)?;
    repository.sweep(&folder)?;
    let before = repository.check_out(&args.before, &folder)?;
    let after = repository.check_out(&args.after, &folder)?;
    let orders = orders_of(args);
    let build =
        |name, revision, checkout| build(name, revision, checkout, &command, &folder, orders);
    let before = build("before", &args.before, &before)?;
    let after = build("after", &args.after, &after)?;
    let before = Side::begin("before", &args.before, before, args, &store)?;
    let mut sides = match Side::begin("after", &args.after, after, args, &store) {
        Ok(after) => [before, after],
        Err(error) => {
            before.session.discard()?;
            return Err(error);
        }
    };
    note_turns(&mut sides);
    let ended = rounds::measure(args, &mut sides).transpose();
    // The last run is often one before. The newest session is what `report` shows by itself.
    sides[1].session.follow(&sides[0].session)?;
    if let Some(ended) = ended {
        return end_early(sides, ended);
    }
    say_what_is_renamed(&sides);
    let load = |side: &Side| {
        let mut session = session::load(Some(side.session.folder()), &store)?;
        session.label.clone_from(&side.revision);
        anyhow::Ok(session)
    };
    let (before, after) = (load(&sides[0])?, load(&sides[1])?);
    let exit = diff::show(&before, &after, &args.judgement)?;
    let [one, other] = sides.map(|side| name_of(side.session.folder()));
    remark(&format!("kept as {one} and {other}"));
    Ok(exit)
}

/// Notes in both sessions that they are measured in turns with each other.
fn note_turns(sides: &mut [Side; 2]) {
    let ids = [0, 1].map(|side| format!("{:016x}", RandomState::new().hash_one(side)));
    for (side, other) in [(0, 1), (1, 0)] {
        let about = &mut sides[side].session.about;
        about.id = Some(ids[side].clone());
        about.interleaved_with = Some(ids[other].clone());
    }
}

/// Keeps the runs so far, if both sides have a report. Without one, nothing can be compared, now or later.
fn end_early(sides: [Side; 2], ended: Result<Exit>) -> Result<Exit> {
    let is_empty = |side: &Side| {
        let sum = side.session.sum();
        sum.is_ok_and(|sum| sum.callsites().is_empty())
    };
    let is_kept = !sides.iter().any(is_empty);
    if is_kept {
        say_what_is_renamed(&sides);
    } else {
        sides.into_iter().try_for_each(|it| it.session.discard())?;
    }
    match (interrupt::status(), ended) {
        (_, Err(error)) if !error.is::<Interrupted>() => Err(error),
        (Some(status), _) => {
            let kept = if is_kept {
                "; the runs so far are kept"
            } else {
                ""
            };
            remark(&format!("interrupted{kept}"));
            Ok(Exit::Program(status))
        }
        (None, ended) => ended,
    }
}

fn say_what_is_renamed(sides: &[Side]) {
    let renamed = sides.iter().filter_map(|side| side.session.remark());
    renamed.for_each(|sentence| remark(&sentence));
}

/// A revision that has been built.
struct Side {
    pub revision: String,
    /// The program in each order of its functions: first, the order as it is.
    pub orders: Vec<Vec<Executable>>,
    pub session: Writer,
}

impl Side {
    fn begin(
        name: &str,
        revision: &str,
        orders: Vec<Vec<Executable>>,
        args: &AbArgs,
        store: &Store,
    ) -> Result<Self> {
        let about = About {
            remarks: vec![format!("revision {revision}")],
            ..About::of(&args.cargo.with(&args.command))
        };
        let session_name = format!("{}-{name}", args.name.as_deref().unwrap_or("ab"));
        Ok(Self {
            revision: revision.to_owned(),
            orders,
            session: store.begin(Some(&session_name), about)?,
        })
    }
}

/// The number of orders of functions that are used. If it is 1, that is the order as it is.
fn orders_of(args: &AbArgs) -> u32 {
    args.links.unwrap_or(ORDERS).min(args.runs)
}

/// The programs of a revision, in each order of their functions.
fn build(
    name: &str,
    revision: &str,
    checkout: &Checkout<'_>,
    command: &CargoCommand,
    folder: &Path,
    orders: u32,
) -> Result<Vec<Vec<Executable>>> {
    let command = &checkout.command(command)?;
    let here = checkout.folder().with_context(|| revision.to_owned())?;
    let project = Project::find_for_build(command, &here)?;
    if name == "before" {
        outcome::say_if_not_optimised(command);
    }
    // Cargo compares the times of files. Files of the working tree may be older than what was built from another revision, so the two
    // use different target folders and, for what they have in common, different wrappers.
    let (kind, number) = match (checkout.is_working_tree(), name) {
        (true, _) => ("working-tree", 0),
        (false, "before") => (name, 1),
        (false, _) => (name, 2),
    };
    let target = folder.join(format!("{kind}-target"));
    let linked = target.join("links");
    let others = if orders > 1 { orders } else { 0 };
    links::remove_with_fewer(&linked, others);
    let mut environment = wrappers::environment(command, &sharing::wrapper(number), false);
    environment.extend(links::environment(&linked, others));
    let build = Build {
        project: &project,
        command,
        folder: &here,
        target: Some(target),
        intermediate: sharing::can_share(&project).then(|| folder.join("ab-build")),
        environment,
        title: format!("building {revision}"),
    };
    let executables = build.executables(Measurement::On);
    let executables = executables.with_context(|| revision.to_owned())?;
    Ok(in_orders(executables, &linked, others))
}

/// The programs in each order of their functions: first, as they are; then, in as many others if they could be linked so.
fn in_orders(programs: Vec<Executable>, linked: &Path, others: u32) -> Vec<Vec<Executable>> {
    let of_each = programs.iter().map(|of| links::orders(linked, of, others));
    let of_each: Vec<Vec<Executable>> = of_each.collect();
    let in_order = |order: usize| {
        let programs = of_each.iter().map(|orders| orders.get(order).cloned());
        programs.collect()
    };
    let others = (0..others as usize).map_while(in_order);
    std::iter::once(programs).chain(others).collect()
}
