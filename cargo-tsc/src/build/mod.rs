//! What is to be measured: a command of cargo's or a program, and how it becomes executables.

mod cargo;
mod command;
mod selection;

use std::ffi::OsString;
use std::path::PathBuf;

pub use cargo::{Build, Measurement};
pub use command::{CargoCommand, CargoVerb, What};
pub use selection::{Project, Selection};

/// Something to execute.
#[derive(Clone, Debug)]
pub struct Executable {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs; `None` is here.
    pub folder: Option<PathBuf>,
    /// What it finds in its environment besides.
    pub environment: Vec<(String, OsString)>,
}
