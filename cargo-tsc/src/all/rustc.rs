//! Replaces rustc for the crates of the copy. It makes the compiler report their paths as those of the original, and keeps lints from
//! failing the build, because the user has not written what they complain about. The compiler's warnings are printed once, for the program
//! without measurement.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::build::wrappers::Call;
use crate::sources::whole;

/// Each copy and its original, in a line each, because a path may contain every other separator.
const PREFIXES: &str = "CARGO_TSC_REMAP_PATH_PREFIX";
/// `warn` or `allow`.
const LINTS: &str = "CARGO_TSC_CAP_LINTS";
/// Cargo takes what a crate uses under one name from one place. So where the code uses a copy, its build script has another name for the
/// original, which begins with this. The compiler is told the right one.
pub const ORIGINAL: &str = "tsc_original_";

/// The environment variables for cargo, if this program is the wrapper of rustc. The paths in `prefixes` are reported as their originals. `lints`
/// is `warn` or `allow`.
#[must_use]
pub fn environment(
    prefixes: &BTreeMap<PathBuf, PathBuf>,
    lints: &str,
) -> Vec<(OsString, OsString)> {
    let mut lines = OsString::new();
    for (copy, original) in prefixes {
        lines.extend([
            copy.as_os_str(),
            "\n".as_ref(),
            original.as_ref(),
            "\n".as_ref(),
        ]);
    }
    vec![(PREFIXES.into(), lines), (LINTS.into(), lints.into())]
}

/// Runs rustc with the changed arguments, if cargo started this program in its place.
#[must_use]
pub fn take_place() -> Option<ExitCode> {
    std::env::var_os(PREFIXES)?;
    let call = Call::of_this_program()?;
    let mut command = call.command();
    let words = call.arguments.into_iter().map(with_right_name);
    command.args(words).args(arguments());
    Some(match command.status() {
        Ok(status) => ExitCode::from(status.code().unwrap_or(1) as u8),
        Err(error) => {
            anstream::eprintln!("error: rustc cannot be started: {error}");
            ExitCode::from(2)
        }
    })
}

/// The name that the code has for a crate, in an argument that says where this is.
fn with_right_name(word: OsString) -> OsString {
    let named = word.to_str().and_then(|text| text.strip_prefix(ORIGINAL));
    named.map(OsString::from).unwrap_or(word)
}

/// What is added if the crate that is compiled is a copy.
fn arguments() -> Vec<OsString> {
    let prefixes = std::env::var_os(PREFIXES).unwrap_or_default();
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    let lints = std::env::var_os(LINTS).unwrap_or_else(|| "warn".into());
    of_copy(&prefixes.to_string_lossy(), folder, &lints)
}

/// The same for the crate in this folder.
fn of_copy(prefixes: &str, folder: PathBuf, lints: &OsStr) -> Vec<OsString> {
    let lines: Vec<&str> = prefixes.lines().collect();
    let (prefixes, _) = lines.as_chunks::<2>();
    let folder = whole(folder);
    if !prefixes
        .iter()
        .any(|[copy, _]| folder.starts_with(whole(copy.into())))
    {
        return Vec::new();
    }
    // Rustc splits at the last `=`, so an original with one cannot be said. The paths of a project's own files do not need it, because cargo
    // gives them relative to the workspace.
    let said = prefixes
        .iter()
        .filter(|[_, original]| !original.contains('='));
    let mut arguments: Vec<OsString> = said
        .map(|[copy, original]| format!("--remap-path-prefix={copy}={original}").into())
        .collect();
    let mut cap = OsString::from("--cap-lints=");
    cap.push(lints);
    arguments.push(cap);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)], folder: &str) -> Vec<OsString> {
        let pairs = pairs
            .iter()
            .map(|(copy, original)| (copy.into(), original.into()));
        let variables = environment(&pairs.collect(), "allow");
        let prefixes = variables.iter().find(|(name, _)| name == PREFIXES).unwrap();
        of_copy(
            prefixes.1.to_str().unwrap(),
            folder.into(),
            "allow".as_ref(),
        )
    }

    #[test]
    fn copies_are_reported_as_their_originals() {
        let pairs = [("/all/app", "/app"), ("/all/with", "/registry")];
        assert_eq!(
            of(&pairs, "/all/app/member"),
            [
                "--remap-path-prefix=/all/app=/app",
                "--remap-path-prefix=/all/with=/registry",
                "--cap-lints=allow",
            ]
        );
        assert!(of(&pairs, "/elsewhere").is_empty());
    }

    #[test]
    fn paths_may_contain_the_separator_of_rustc() {
        let pairs = [("/a=b/all/app", "/a=b"), ("/a=b/all/with", "/registry")];
        assert_eq!(
            of(&pairs, "/a=b/all/app"),
            [
                "--remap-path-prefix=/a=b/all/with=/registry",
                "--cap-lints=allow",
            ]
        );
    }
}
