//! What an annotation leaves in the machine code when it is turned off.

use super::form::{Dependency, FORMS, Form, Off};
use super::machine_code::{Functions, difference, functions};
use super::project::{Project, read};
use crate::command::claims::Claims;
use crate::command::rounds::{progress, row_of_failure};

/// A function of each sort is in every four.
const FUNCTIONS: usize = 500;

pub(crate) fn print(claims: &mut Claims) {
    println!("### Turned off\n");
    println!(
        "A library of {FUNCTIONS} functions (sums, loops, `?`, panics, values that drop), built bare and with each annotation turned off as its \
         documentation says, by `cargo rustc --release -- --emit=obj -Ccodegen-units=1`. Compared are all functions in the two object files, by \
         name: instructions byte by byte, and what a call or an address refers to. A function that only one of them has differs in full.\n"
    );
    println!("| | turned off by | functions that differ | bytes that differ |");
    println!("|---|---|---|---|");
    let bare = object(&FORMS[0], "bare", &[]);
    let compare = |form: &Form, how: &str, dependencies: &[Dependency]| {
        let found = bare
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|bare| Ok(difference(bare, &object(form, how, dependencies)?)));
        row(form.label, how, found.as_ref());
        found.map(|(_, bytes)| bytes)
    };
    for form in &FORMS[1..] {
        let ours = form.label == "**cycles**";
        match form.off {
            Off::By(ways) => {
                for (how, dependencies) in ways {
                    let bytes = compare(form, how, dependencies);
                    if ours {
                        claims.off(how, bytes);
                    }
                }
            }
            Off::Never(instead) => println!("| {} | {instead} |  |  |", form.label),
        }
        if ours {
            // That the comparison can tell.
            let _ = compare(form, "nothing: it measures", form.dependencies);
        }
    }
    println!();
}

fn row(label: &str, how: &str, found: Result<&(usize, usize), &String>) {
    match found {
        Ok((functions, bytes)) => println!("| {label} | {how} | {functions} | {bytes} |"),
        Err(why) => println!(
            "{}",
            row_of_failure(label, &format!("does not build here: {why}"), 3)
        ),
    }
}

fn object(form: &Form, how: &str, dependencies: &[Dependency]) -> Result<Functions, String> {
    progress(&format!("off: {}, {how}", form.label));
    let project = Project::new(&format!("off{}{how}", form.label), dependencies)?;
    let Form {
        prelude,
        attribute,
        statement,
        ..
    } = form;
    // As many lines with as without, for panics know theirs.
    let mut text = format!(
        "{prelude:\n<0$}",
        prelude.len() + 2 - prelude.matches('\n').count()
    );
    for number in 0..FUNCTIONS {
        text += &function(number, attribute, statement);
    }
    project.write("src/lib.rs", &text)?;
    let object = project.target().join("annotated.o");
    let emit = format!("--emit=obj={}", object.display());
    project.cargo(&[
        "rustc",
        "--release",
        "--lib",
        "--",
        &emit,
        "-Ccodegen-units=1",
    ])?;
    progress("");
    functions(&read(&object)?)
}

fn function(number: usize, attribute: &str, statement: &str) -> String {
    let (signature, body) = match number % 4 {
        0 => (
            "a: u64, b: &str) -> u64",
            "a.wrapping_mul(NUMBER + 3) + b.len() as u64",
        ),
        1 => (
            "a: &[u64], b: usize) -> u64",
            "a.iter().skip(NUMBER).fold(a[b], |sum, one| sum.rotate_left(7) ^ one)",
        ),
        2 => (
            "a: &str, b: u64) -> Option<u64>",
            "let c: u64 = a.split('=').nth(1)?.parse().ok()?;\n    Some(c / b + NUMBER)",
        ),
        _ => (
            "a: Vec<String>, b: &str) -> usize",
            "let c = format!(\"{b}NUMBER\");\n    a.into_iter().map(|one| one + &c).filter(|one| one.len() > NUMBER).count()",
        ),
    };
    format!("{attribute}\n#[inline(never)]\npub fn fNUMBER({signature} {{\n    {statement}\n    {body}\n}}\n")
        .replace("NUMBER", &number.to_string())
}
