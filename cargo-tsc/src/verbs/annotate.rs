//! `cargo tsc annotate`: adds the attribute to every function of the project, in place, and removes it again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, Package};

use crate::all::{self, measured::Measured};
use crate::annotate::{self, Function, Probe, Where};
use crate::build::{CargoCommand, CargoVerb, Project, RUNTIME};
use crate::command_line::AnnotateArgs;
use crate::exit::Exit;
use crate::interrupt;
use crate::output;
use crate::progress::{counted, remark};
use crate::sources::{self, Sources, plain};

/// Runs the verb.
///
/// # Errors
/// If there is no project, or a file cannot be read or written.
pub fn annotate(args: &AnnotateArgs) -> Result<Exit> {
    let manifest = args.manifest_path.iter();
    let command = CargoCommand {
        verb: CargoVerb::Run,
        options: manifest
            .flat_map(|path| ["--manifest-path".into(), path.into()])
            .collect(),
        arguments: Vec::new(),
    };
    let project = Project::find_members(&command, &std::env::current_dir()?)?;
    let members = project.metadata().workspace_packages();
    let changes = Changes::make(args, &project, &members)?;
    changes.print(args)?;
    if !changes.bare.is_empty() {
        let names: Vec<&str> = changes.bare.iter().map(String::as_str).collect();
        remark(&format!(
            "without it, because their probes cost too much in the last `run --all`: {}",
            names.join(", ")
        ));
    }
    if changes.unmeasured > 0 {
        remark(&format!(
            "added whatever the probes cost, because no `run --all` has measured the same text: in {}",
            counted(changes.unmeasured, "file")
        ));
    }
    if !args.write && !args.strip {
        remark("nothing was changed; --write adds it, and --strip removes it");
    }
    if args.write {
        say_what_is_needed(&changes);
    }
    Ok(Exit::Fine)
}

/// What was, or would be, changed.
#[derive(Default)]
struct Changes {
    files: Vec<PathBuf>,
    /// How many attributes were added or removed.
    attributes: usize,
    /// How many of those added are light, as in the last `run --all`.
    light: usize,
    /// The packages in which that was, and which do not depend on the runtime.
    without_runtime: BTreeSet<String>,
    /// The roots of crates that must declare the runtime.
    undeclared: Vec<PathBuf>,
    /// The functions without an attribute because of what their probes cost.
    bare: BTreeSet<String>,
    /// How many files are not as a `run --all` has measured them, so that the cost of their probes is unknown.
    unmeasured: usize,
}

impl Changes {
    fn make(args: &AnnotateArgs, project: &Project, members: &[&Package]) -> Result<Self> {
        let sources = Sources::new(members);
        let last = all::last(project);
        let refused = all::refused(project);
        let mut changes = Self::default();
        let bare = RefCell::new(BTreeSet::new());
        for package in members {
            let say = &mut |text: String| remark(&text);
            for file in sources.of(package, false, annotate::files_of, say)? {
                if !is_own(&file, package, project) {
                    remark(&format!(
                        "{}: left as it is, because it is outside of the project or reached through a symbolic link",
                        file.display()
                    ));
                    continue;
                }
                let there = plain(&file);
                let place = there.strip_prefix(project.root()).unwrap_or(&there);
                let source = fs::read_to_string(&file);
                let source = source.with_context(|| file.display().to_string())?;
                let refused = refused.of(&there, &source);
                if !args.strip {
                    refused.sentences().for_each(|sentence| remark(&sentence));
                }
                let choice = last.choice(&there, &source);
                let probe = |function: &Function| {
                    let is_here = |one: &Measured| one.is(place, function);
                    let left_out =
                        choice.and_then(|choice| choice.bare.iter().find(|one| is_here(one)));
                    bare.borrow_mut()
                        .extend(left_out.map(|one| one.name.clone()));
                    let probe = match choice {
                        Some(choice) if !choice.timed.iter().any(is_here) => Probe::Light,
                        _ => Probe::Timed,
                    };
                    (left_out.is_none() && !refused.has(function)).then_some(probe)
                };
                if args.write && annotate::needs_declaration(package, &file, &source) {
                    changes.undeclared.push(file.clone());
                }
                match change(&file, &source, args, &probe)? {
                    Ok((0, _)) => {}
                    Ok((count, light)) => {
                        changes.attributes += count;
                        changes.light += light;
                        changes.unmeasured += usize::from(!args.strip && choice.is_none());
                        changes.files.push(file);
                        if !depends_on_runtime(package) {
                            changes.without_runtime.insert(package.name.to_string());
                        }
                    }
                    Err(error) => remark(&annotate::left_as_it_is(&file, &error)),
                }
            }
        }
        changes.bare = bare.into_inner();
        Ok(changes)
    }

    fn print(&self, args: &AnnotateArgs) -> Result<()> {
        let Self {
            files,
            attributes,
            light,
            ..
        } = self;
        if args.json {
            let value =
                serde_json::json!({ "files": files, "attributes": attributes, "light": light });
            return output::print_json(&value);
        }
        let did = match (args.write, args.strip) {
            (true, _) => "added to",
            (_, true) => "taken from",
            _ => "would be added to",
        };
        let functions = counted(*attributes, "function");
        let files = counted(files.len(), "file");
        let mut out = output::styled_stdout();
        let light = match light {
            0 => String::new(),
            light => format!(", and is light for {light} of them"),
        };
        Ok(writeln!(
            out,
            "#[cycles] {did} {functions} in {files}{light}"
        )?)
    }
}

/// Whether the file is in the folder of the project or of its package, which may be beside it, and no link leads to it.
fn is_own(file: &Path, package: &Package, project: &Project) -> bool {
    let own = package.manifest_path.parent().map(|of| of.as_std_path());
    let mut roots = own.into_iter().chain([project.root()]);
    roots.any(|root| sources::place(root, file).is_some())
}

/// Whether the package's libraries and programs may use the runtime, not only its tests.
fn depends_on_runtime(package: &Package) -> bool {
    let mut dependencies = package.dependencies.iter();
    dependencies.any(|of| of.name == RUNTIME && of.kind == DependencyKind::Normal)
}

/// Says what the packages need so that the attributes compile.
fn say_what_is_needed(changes: &Changes) {
    for name in &changes.without_runtime {
        remark(&format!(
            "{name} needs the dependency: cargo add tsc-runtime --package {name}"
        ));
    }
    for file in &changes.undeclared {
        remark(&format!(
            "{} needs the line `{}`, because it is of the 2015 edition",
            file.display(),
            annotate::DECLARATION
        ));
    }
}

/// The number of attributes that were, or would be, added or removed, and of light ones among those added. The inner error is that of a file that
/// does not parse.
fn change(
    file: &Path,
    source: &str,
    args: &AnnotateArgs,
    probe: &dyn Fn(&Function) -> Option<Probe>,
) -> Result<syn::Result<(usize, usize)>> {
    let changed = if args.strip {
        annotate::strip(source).map(|(text, count)| (text, count, 0))
    } else {
        annotate::annotate(source, Where::Worthwhile, probe)
            .map(|annotated| (annotated.text, annotated.attributes, annotated.light))
    };
    let (text, count, light) = match changed {
        Ok(changed) => changed,
        Err(error) => return Ok(Err(error)),
    };
    if count > 0 && (args.write || args.strip) {
        output::write_whole(file, text)?;
        interrupt::check()?;
    }
    Ok(Ok((count, light)))
}
