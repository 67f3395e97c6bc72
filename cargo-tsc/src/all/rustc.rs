//! This program in the place of rustc, for the copy's own crates: their paths are said as the original's, and their lints do not fail the
//! build, since what they would be about is not the user's text. What the compiler warns of is said once, of the bare program.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

/// `COPY=ORIGINAL`.
const PREFIX: &str = "CARGO_TSC_REMAP_PATH_PREFIX";
/// `warn` or `allow`.
const LINTS: &str = "CARGO_TSC_CAP_LINTS";

/// What cargo needs in its environment. `lints` is how loud they may be.
#[must_use]
pub fn environment(copy: &Path, original: &Path, lints: &str) -> Vec<(OsString, OsString)> {
    let mut prefix = copy.as_os_str().to_owned();
    prefix.push("=");
    prefix.push(original);
    let this = std::env::current_exe().unwrap_or_else(|_| "cargo-tsc".into());
    vec![
        ("RUSTC_WORKSPACE_WRAPPER".into(), this.into()),
        (PREFIX.into(), prefix),
        (LINTS.into(), lints.into()),
    ]
}

/// Whether cargo started this program in rustc's place.
#[must_use]
pub fn is_rustc() -> bool {
    std::env::var_os(PREFIX).is_some()
        && std::env::args_os().nth(1).is_some_and(|word| {
            Path::new(&word)
                .file_stem()
                .is_some_and(|stem| stem.to_string_lossy().contains("rustc"))
        })
}

/// Runs rustc in this program's place.
#[must_use]
pub fn become_rustc() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    let mut remap = OsString::from("--remap-path-prefix=");
    remap.push(std::env::var_os(PREFIX).unwrap_or_default());
    let mut lints = OsString::from("--cap-lints=");
    lints.push(std::env::var_os(LINTS).unwrap_or_else(|| "warn".into()));
    command.arg(remap).arg(lints);
    match command.status() {
        Ok(status) => ExitCode::from(status.code().unwrap_or(1) as u8),
        Err(error) => {
            anstream::eprintln!("error: rustc cannot be started: {error}");
            ExitCode::from(2)
        }
    }
}
