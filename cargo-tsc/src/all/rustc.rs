//! Replaces rustc for the crates of the copy. It makes the compiler report their paths as those of the original, and keeps lints from
//! failing the build, because the user has not written what they complain about. The compiler's warnings are printed once, for the program
//! without measurement.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::build::sharing;
use crate::sources::whole;

/// Each copy and its original, in a line each, because a path may contain every other separator.
const PREFIXES: &str = "CARGO_TSC_REMAP_PATH_PREFIX";
/// `warn` or `allow`.
const LINTS: &str = "CARGO_TSC_CAP_LINTS";
/// The user's own wrapper, if this program has taken its place.
const USERS: &str = "CARGO_TSC_RUSTC_WRAPPER";
/// Cargo takes what a crate uses under one name from one place. So where the code uses a copy, its build script has another name for the
/// original, which begins with this. The compiler is told the right one.
pub const ORIGINAL: &str = "tsc_original_";
/// Cargo's variable for a wrapper of rustc for all crates.
const WRAPPER: &str = "RUSTC_WRAPPER";

/// The environment variables for cargo. The paths in `prefixes` are reported as their originals. `lints` is `warn` or `allow`. If
/// `for_dependencies` is true, crates outside of the workspace are copies, too.
#[must_use]
pub fn environment(
    wrapper: &Path,
    prefixes: &BTreeMap<PathBuf, PathBuf>,
    lints: &str,
    for_dependencies: bool,
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
    let mut variables = vec![
        ("RUSTC_WORKSPACE_WRAPPER".into(), wrapper.into()),
        (PREFIXES.into(), lines),
        (LINTS.into(), lints.into()),
    ];
    if for_dependencies {
        variables.push((WRAPPER.into(), wrapper.into()));
        let users = std::env::var_os(WRAPPER).unwrap_or_default();
        variables.push((USERS.into(), users));
    }
    variables
}

/// Whether cargo started this program in place of rustc. As a wrapper of all crates, it is given the workspace's wrapper, which is itself.
#[must_use]
pub fn is_rustc() -> bool {
    let is_program = |word: OsString| {
        let path = Path::new(&word);
        sharing::is_rustc(path)
            || (path.is_absolute() && path.file_name() == sharing::wrapper(0).file_name())
    };
    std::env::var_os(PREFIXES).is_some() && std::env::args_os().nth(1).is_some_and(is_program)
}

/// Runs rustc with the changed arguments.
#[must_use]
pub fn become_rustc() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut words = words.as_slice();
    let users = std::env::var_os(USERS).filter(|users| !users.is_empty());
    let is_last = words
        .first()
        .is_some_and(|word| sharing::is_rustc(Path::new(word)));
    let program = match users.filter(|_| is_last) {
        Some(users) => users,
        None => match words.split_first() {
            Some((first, rest)) => {
                words = rest;
                first.clone()
            }
            None => OsString::new(),
        },
    };
    let mut command = Command::new(program);
    command.args(words.iter().map(with_right_name));
    if is_last {
        command.args(arguments());
    }
    match command.status() {
        Ok(status) => ExitCode::from(status.code().unwrap_or(1) as u8),
        Err(error) => {
            anstream::eprintln!("error: rustc cannot be started: {error}");
            ExitCode::from(2)
        }
    }
}

/// The name that the code has for a crate, in an argument that says where this is.
fn with_right_name(word: &OsString) -> OsString {
    let named = word.to_str().and_then(|text| text.strip_prefix(ORIGINAL));
    named.map_or_else(|| word.clone(), OsString::from)
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
        let variables = environment(Path::new("wrapper"), &pairs.collect(), "allow", false);
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
