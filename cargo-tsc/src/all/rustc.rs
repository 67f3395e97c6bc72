//! Replaces rustc for the crates of the copy. It makes the compiler report their paths as those of the original, and keeps lints from
//! failing the build, because the user has not written what they complain about. The compiler's warnings are printed once, for the program
//! without measurement.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// `COPY=ORIGINAL`.
const PREFIX: &str = "CARGO_TSC_REMAP_PATH_PREFIX";
/// `warn` or `allow`.
const LINTS: &str = "CARGO_TSC_CAP_LINTS";

/// The environment variables for cargo. `lints` is `warn` or `allow`.
#[must_use]
pub fn environment(
    wrapper: &Path,
    copy: &Path,
    original: &Path,
    lints: &str,
) -> Vec<(OsString, OsString)> {
    let mut prefix = copy.as_os_str().to_owned();
    prefix.push("=");
    prefix.push(original);
    vec![
        ("RUSTC_WORKSPACE_WRAPPER".into(), wrapper.into()),
        (PREFIX.into(), prefix),
        (LINTS.into(), lints.into()),
    ]
}

/// The path of this program.
#[must_use]
pub fn wrapper() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "cargo-tsc".into())
}

/// Another path of this program, `/a/../a/cargo-tsc`. Cargo builds a package separately for each wrapper of rustc, and it distinguishes
/// wrappers by their paths as written. Clippy relies on that, too.
#[must_use]
pub fn other_wrapper() -> Option<PathBuf> {
    let this = wrapper().canonicalize().ok()?;
    let folder = this.parent()?;
    let other = folder.join("..").join(folder.file_name()?);
    Some(other.join(this.file_name()?)).filter(|path| path.exists())
}

/// Whether cargo started this program in place of rustc.
#[must_use]
pub fn is_rustc() -> bool {
    std::env::var_os(PREFIX).is_some()
        && std::env::args_os().nth(1).is_some_and(|word| {
            Path::new(&word)
                .file_stem()
                .is_some_and(|stem| stem.to_string_lossy().contains("rustc"))
        })
}

/// Runs rustc with the changed arguments.
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
