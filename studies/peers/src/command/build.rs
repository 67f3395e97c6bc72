//! What annotations cost in a build: a crate of 500 functions, a crate of one function without any built dependencies, and a crate in
//! which they are turned off.

mod form;
mod machine_code;
mod off;
mod parts;
mod project;

use form::{FORMS, Form};
use machine_code::Sizes;
use parts::PARTS;
use project::{Project, Time, read};

use super::claims::Claims;
use super::rounds::{progress, row_of_failure};
use super::spread::{Spread, cell, median};

const FUNCTIONS: usize = 500;
/// Builds from nothing. They take far longer than the others and vary less.
const CLEAN: usize = 3;

/// What was measured of a form.
pub(crate) struct Built {
    pub(crate) label: &'static str,
    pub(crate) build: Vec<Time>,
    check: Vec<Time>,
    pub(crate) clean: Vec<Time>,
    /// Of one function, and of all.
    sizes: [Option<Sizes>; 2],
    pub(crate) dependencies: usize,
}

impl Built {
    /// Bytes that a function adds, with its annotation.
    fn each(&self) -> Option<Sizes> {
        let [one, all] = self.sizes;
        Some(all?.each(one?, FUNCTIONS - 1))
    }

    /// Bytes that a function's annotation adds.
    pub(crate) fn added(&self, bare: &Self) -> Option<Sizes> {
        Some(self.each()?.minus(bare.each()?))
    }
}

type Outcome<'a> = (&'a Form, Result<(Project, Built), String>);

pub(crate) fn print(rounds: usize, claims: &mut Claims) {
    let all = measured(&FORMS, CLEAN.min(rounds), rounds);
    table(&all);
    let built: Vec<_> = all
        .iter()
        .filter_map(|(_, outcome)| outcome.as_ref().ok().map(|(_, built)| built))
        .collect();
    claims.build(&built);
    drop(all);
    parts(&measured(&PARTS, 1, rounds));
    off::print(claims);
}

/// Interleaved, as the other scenarios.
fn measured(forms: &[Form], cleans: usize, rounds: usize) -> Vec<Outcome<'_>> {
    let mut all: Vec<_> = forms.iter().map(|form| (form, begin(form))).collect();
    for round in 1..=cleans {
        each(&mut all, &format!("clean build {round}"), clean);
    }
    for round in 1..=rounds {
        each(&mut all, &format!("build {round}"), build);
    }
    all
}

/// One step of every form that has not failed yet.
fn each(
    all: &mut [Outcome<'_>],
    what: &str,
    step: impl Fn(&Project, &Form, &mut Built) -> Result<(), String>,
) {
    for (form, outcome) in all {
        progress(&format!("{what}: {}", form.label));
        if let Ok((project, built)) = outcome
            && let Err(why) = step(project, form, built)
        {
            *outcome = Err(why);
        }
    }
    progress("");
}

fn begin(form: &Form) -> Result<(Project, Built), String> {
    let project = Project::new(form.label, form.dependencies)?;
    source(&project, form, 1)?;
    project.cargo(&["fetch"])?;
    let built = Built {
        label: form.label,
        build: Vec::new(),
        check: Vec::new(),
        clean: Vec::new(),
        sizes: [None; 2],
        dependencies: project.dependencies()?,
    };
    Ok((project, built))
}

fn clean(project: &Project, form: &Form, built: &mut Built) -> Result<(), String> {
    project.clean();
    source(project, form, 1)?;
    built.clean.push(project.cargo(&["build", "--release"])?);
    built.sizes[0] = Some(size(project)?);
    project.cargo(&["check"])?;
    Ok(())
}

fn build(project: &Project, form: &Form, built: &mut Built) -> Result<(), String> {
    // Written anew, it is newer than what was built of it.
    source(project, form, FUNCTIONS)?;
    built.build.push(project.cargo(&["build", "--release"])?);
    built.check.push(project.cargo(&["check"])?);
    built.sizes[1] = Some(size(project)?);
    Ok(())
}

fn size(project: &Project) -> Result<Sizes, String> {
    Sizes::of(&read(&project.target().join("release/annotated"))?)
}

/// Functions that do a little and differ. They are called through a table, or the compiler would fold the bare ones' arguments into them.
fn source(project: &Project, form: &Form, count: usize) -> Result<(), String> {
    let Form {
        prelude,
        attribute,
        statement,
        tail: [before, after],
        main: [main_attribute, main_statement],
        ..
    } = form;
    let mut text = format!("{prelude}\n");
    for number in 0..count {
        text += &format!(
            "{attribute}\n#[inline(never)]\nfn fNUMBER(a: u64, b: &str) -> u64 {{\n    {statement}\n    \
             {before}a.wrapping_mul(NUMBER + 3) + b.len() as u64{after}\n}}\n"
        )
        .replace("NUMBER", &number.to_string());
    }
    let names: Vec<_> = (0..count).map(|number| format!("f{number}")).collect();
    text += &format!(
        "static ALL: [fn(u64, &str) -> u64; {count}] = [{}];\n\
         {main_attribute}\nfn main() {{\n    {main_statement}\n    let mut a = std::env::args().count() as u64;\n    \
         for function in &ALL {{\n        a ^= std::hint::black_box(function)(a, \"abc\");\n    }}\n    println!(\"{{a}}\");\n}}\n",
        names.join(", ")
    );
    project.write("src/main.rs", &text)
}

fn table(all: &[Outcome<'_>]) {
    println!("### Building\n");
    println!(
        "A crate of {FUNCTIONS} functions whose dependencies are built: release build and check, in s by the clock; in s of CPU time. Bytes that each function adds to the loaded \
         program, of bare ones, and what an annotation adds to that: code; data (statics, constants, names); tables (relocations, unwinding). \
         Dependencies, all in all, and the release build of a crate of one function with nothing built yet, likewise.\n"
    );
    println!("| | build | check | code | data | tables | dependencies | clean build |");
    println!("|---|---|---|---|---|---|---|---|");
    let bare = bare(all);
    for (form, outcome) in all {
        match outcome {
            Ok((_, built)) => row(built, bare),
            Err(why) => println!(
                "{}",
                row_of_failure(form.label, &format!("does not build here: {why}"), 7)
            ),
        }
    }
    println!();
}

fn row(built: &Built, bare: Option<&Built>) {
    println!(
        "| {} | {} | {} | {} | {} | {} |",
        built.label,
        times(&built.build, 2),
        times(&built.check, 2),
        bytes(built, bare),
        built.dependencies,
        times(&built.clean, 1),
    );
}

/// What each part of this crate's annotation costs.
fn parts(all: &[Outcome<'_>]) {
    println!("### What an annotation of this crate's is made of\n");
    println!(
        "The same {FUNCTIONS} functions, annotated with less and less: CPU time of a build and of a check more than of bare ones, in s, and bytes as above.\n"
    );
    println!("| | build | check | code | data | tables |");
    println!("|---|---|---|---|---|---|");
    let bare = bare(all);
    for (form, outcome) in &all[1..] {
        match outcome {
            Ok((_, built)) => {
                let more = |of: fn(&Built) -> &[Time]| {
                    let [own, bare] = [Some(built), bare].map(|one| cpu(of(one?)));
                    own.zip(bare).map_or("–".to_owned(), |(own, bare)| {
                        format!("{:+.2}", own.median - bare.median)
                    })
                };
                let [build, check] = [more(|one| &one.build), more(|one| &one.check)];
                println!(
                    "| {} | {build} | {check} | {} |",
                    form.label,
                    bytes(built, bare)
                );
            }
            Err(why) => println!(
                "{}",
                row_of_failure(form.label, &format!("does not build here: {why}"), 5)
            ),
        }
    }
    println!();
}

fn bare<'a>(all: &'a [Outcome<'_>]) -> Option<&'a Built> {
    let (_, outcome) = all.iter().find(|(form, _)| form.label == "bare")?;
    outcome.as_ref().ok().map(|(_, built)| built)
}

/// Three cells.
fn bytes(built: &Built, bare: Option<&Built>) -> String {
    let own = built.label == "bare";
    let sizes = if own {
        built.each()
    } else {
        bare.and_then(|bare| built.added(bare))
    };
    let Some(Sizes { code, data, tables }) = sizes else {
        return "– | – | –".to_owned();
    };
    [code, data, tables]
        .map(|bytes| match bytes.round() + 0.0 {
            bytes if own => format!("{bytes:.0}"),
            bytes => format!("{bytes:+.0}"),
        })
        .join(" | ")
}

fn times(times: &[Time], places: usize) -> String {
    let clock = Spread::of(times.iter().map(|time| time.clock).collect());
    format!("{}; {}", cell(clock, places), median(cpu(times), places))
}

/// Of the CPU time.
pub(crate) fn cpu(times: &[Time]) -> Option<Spread> {
    Spread::of(times.iter().map(|time| time.cpu).collect())
}
