//! A program in one of its forms: a copy of its crate, annotated or not, with a `main` function of this project.

pub mod callgrind;
pub mod calls;
pub mod process;
pub mod profile;
pub mod run;
pub mod statistics;

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::cargo;
use crate::project::{copy_dir, dependency, stand_alone};
use cargo_tsc::annotate::{ATTRIBUTE, Probe, Where, annotate};

/// The attributes that are added to the functions of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No attributes.
    Bare,
    /// `#[cycles]` on all functions and on the root.
    Timed,
    /// `#[cycles(light)]` on all functions and on the root.
    Light,
    /// `#[inline(never)]` on all functions that could have `#[cycles]`.
    NotInlined,
    /// The same, and `#[cycles(light)]` on the root: the program has all that [`Light`](Self::Light) has but the functions' probes.
    LightRoot,
    /// As `NotInlined`, but without optimisation, so that each call in the source is executed as a call.
    AsWritten,
}

impl Form {
    /// What the functions of the crate get.
    fn attribute(self) -> Option<&'static str> {
        match self {
            Self::Bare => None,
            Self::Timed => Some(ATTRIBUTE),
            Self::Light => Some(LIGHT),
            Self::NotInlined | Self::LightRoot | Self::AsWritten => Some(NOT_INLINED),
        }
    }

    /// What the root gets.
    fn root_attribute(self) -> Option<&'static str> {
        match self {
            Self::Timed => Some("#[tsc_runtime::cycles(name = \"root\")]"),
            Self::Light | Self::LightRoot => Some("#[tsc_runtime::cycles(light, name = \"root\")]"),
            Self::Bare | Self::NotInlined | Self::AsWritten => None,
        }
    }

    /// The name of its folder.
    fn folder(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Timed => "timed",
            Self::Light => "light",
            Self::NotInlined => "not_inlined",
            Self::LightRoot => "light_root",
            Self::AsWritten => "as_written",
        }
    }
}

/// A crate, and the program that uses it.
pub struct Program {
    pub kind: &'static str,
    pub name: &'static str,
    main: &'static str,
}

pub const PROGRAMS: [Program; 3] = [
    Program {
        kind: "compressor",
        name: "zopfli",
        main: concat!(
            include_str!("texts/zopfli.rs"),
            include_str!("texts/words.rs")
        ),
    },
    Program {
        kind: "parser",
        name: "markdown",
        main: include_str!("texts/markdown.rs"),
    },
    Program {
        kind: "interpreter",
        name: "rust_lisp",
        main: include_str!("texts/rust_lisp.rs"),
    },
];

/// Further programs. In `sqlparser`, `pulldown-cmark` and `roxmltree`, an annotated call costs more than elsewhere.
pub const FURTHER: [Program; 8] = [
    Program {
        kind: "compressor",
        name: "miniz_oxide",
        main: concat!(
            include_str!("texts/miniz_oxide.rs"),
            include_str!("texts/words.rs")
        ),
    },
    Program {
        kind: "parser with large results",
        name: "sqlparser",
        main: include_str!("texts/sqlparser.rs"),
    },
    Program {
        kind: "parser whose functions take a nanosecond",
        name: "pulldown-cmark",
        main: include_str!("texts/pulldown_cmark.rs"),
    },
    Program {
        kind: "parser whose functions are mostly inlined",
        name: "roxmltree",
        main: include_str!("texts/roxmltree.rs"),
    },
    Program {
        kind: "parser and writer",
        name: "tinyjson",
        main: include_str!("texts/tinyjson.rs"),
    },
    Program {
        kind: "compressor whose functions take a nanosecond",
        name: "lzma-rs",
        main: concat!(
            include_str!("texts/lzma_rs.rs"),
            include_str!("texts/words.rs")
        ),
    },
    Program {
        kind: "compressor of many layers",
        name: "libflate",
        main: concat!(
            include_str!("texts/libflate.rs"),
            include_str!("texts/words.rs")
        ),
    },
    Program {
        kind: "compressor of a table",
        name: "weezl",
        main: concat!(
            include_str!("texts/weezl.rs"),
            include_str!("texts/words.rs")
        ),
    },
];

const MAIN: &str = include_str!("texts/main.rs");
const ROWS: &str = include_str!("texts/rows.rs");

/// Used in place of [`ATTRIBUTE`].
const NOT_INLINED: &str = "#[inline(never)] ";
const LIGHT: &str = "#[::tsc_runtime::cycles(light)] ";

/// The program's executable and how many functions of its crate were given an attribute.
pub fn build(
    program: &Program,
    source: &Path,
    scratch: &Path,
    form: Form,
) -> io::Result<(PathBuf, usize)> {
    let dir = scratch.join(program.name).join(form.folder());
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let attributes = copy(source, &dir.join("crate"), form)?;
    write_main(program, &dir, form)?;
    let target = scratch.join("target");
    cargo::build_release(&dir, &target)?;
    // All forms have the same package name.
    let executable = dir.join("program");
    fs::copy(target.join("release/program"), &executable)?;
    Ok((executable, attributes))
}

fn copy(source: &Path, dir: &Path, form: Form) -> io::Result<usize> {
    copy_dir(source, dir)?;
    let _ = fs::remove_file(dir.join("Cargo.lock"));
    let manifest = dir.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    if matches!(form, Form::Timed | Form::Light) {
        text.push_str(&without_profile(&dependency()));
    }
    fs::write(&manifest, text)?;
    annotate_dir(&dir.join("src"), form)
}

fn annotate_dir(dir: &Path, form: Form) -> io::Result<usize> {
    let mut attributes = 0;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            attributes += annotate_dir(&path, form)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            attributes += annotate_file(&path, form)?;
        }
    }
    Ok(attributes)
}

/// The text of an annotated file with `#[inline(never)]` in place of its probes.
pub fn not_inlined(annotated: &str) -> String {
    let mut text = without_inline(annotated);
    for probe in [Probe::Light, Probe::Timed] {
        text = text.replace(probe.attribute(), NOT_INLINED);
    }
    text
}

/// Without the attributes before which `#[inline(never)]` has no effect: of two such attributes, the compiler takes the first.
fn without_inline(source: &str) -> String {
    let attributes = ["#[inline]", "#[inline(always)]", "#[inline(never)]"];
    let removed = |source: String, attribute: &&str| source.replace(attribute, "");
    attributes.iter().fold(source.to_owned(), removed)
}

fn annotate_file(path: &Path, form: Form) -> io::Result<usize> {
    let Some(attribute) = form.attribute() else {
        return Ok(0);
    };
    let mut source = fs::read_to_string(path)?;
    if matches!(form, Form::NotInlined | Form::AsWritten) {
        source = without_inline(&source);
    }
    match annotate(&source, Where::Functions, &|_| Some(Probe::Timed)) {
        Ok(annotated) => {
            fs::write(path, annotated.text.replace(ATTRIBUTE, attribute))?;
            Ok(annotated.attributes)
        }
        Err(error) => {
            eprintln!("{}: left as it is: {error}", path.display());
            Ok(0)
        }
    }
}

/// The package that has the main function.
fn write_main(program: &Program, dir: &Path, form: Form) -> io::Result<()> {
    let mut manifest = format!(
        "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nlibc = \"0.2\"\n{} = {{ path = \"crate\" }}\n",
        program.name
    );
    let mut main = format!("{}\n{MAIN}", program.main);
    if let Some(attribute) = form.root_attribute() {
        manifest.push_str(&without_profile(&dependency()));
        main.push_str(ROWS);
        main = main.replace("// ROWS", "rows();");
        main = main.replace("fn root(", &format!("{attribute}\nfn root("));
    }
    stand_alone(&mut manifest);
    if form == Form::AsWritten {
        manifest.push_str("\n[profile.release]\nopt-level = 0\n");
    }
    fs::create_dir_all(dir.join("src"))?;
    fs::write(dir.join("Cargo.toml"), manifest)?;
    fs::write(dir.join("src/main.rs"), main)
}

/// Cargo uses profiles only in the root of a workspace.
fn without_profile(dependency: &str) -> String {
    dependency
        .split("\n[profile")
        .next()
        .unwrap_or_default()
        .to_owned()
}
