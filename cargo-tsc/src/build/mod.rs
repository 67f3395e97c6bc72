//! Makes executables from what is to be measured: a cargo command or a program.

mod built;
mod cargo;
mod command;
mod features;
mod libraries;
pub mod links;
mod options;
mod selection;
pub mod sharing;
mod variables;
pub mod wrappers;

use std::ffi::OsString;
use std::path::PathBuf;

pub use built::Built;
pub use cargo::{Build, Measurement, Refusal};
pub use command::{CargoCommand, CargoVerb, What};
pub use features::{ALWAYS, RUNTIME};
pub use options::CargoOptions;
pub use selection::{Project, Selection, pattern, toolchain};

/// An executable to run.
#[derive(Clone, Debug)]
pub struct Executable {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder in which it runs. `None` is the current folder.
    pub folder: Option<PathBuf>,
    /// Additional environment variables for it.
    pub environment: Vec<(String, OsString)>,
}
