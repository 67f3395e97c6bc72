//! The folders in which a program that cargo built looks for dynamic libraries: those that `cargo run` and `cargo test` add.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{Artifact, BuildScript};

use super::CargoCommand;

/// The variable by which the system finds them.
pub(super) const VARIABLE: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_vendor = "apple") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else if cfg!(target_os = "aix") {
    "LIBPATH"
} else {
    "LD_LIBRARY_PATH"
};

/// The value of [`VARIABLE`] for programs of this build, which was started in `folder`. The user's own folders come last. `None` if it cannot
/// be written, because a folder has a separator in its name.
pub(super) fn path(
    artifacts: &[Artifact],
    scripts: &[BuildScript],
    command: &CargoCommand,
    folder: &Path,
) -> Option<OsString> {
    // Each build script is in a folder of its own.
    let artifacts = artifacts.iter().filter(|it| !it.target.is_custom_build());
    let files = artifacts.flat_map(|artifact| &artifact.filenames);
    let mut folders: Vec<PathBuf> = scripts.iter().flat_map(of_script).collect();
    folders.extend(of_files(files.map(|file| file.as_std_path())));
    let mut platforms = vec![None];
    platforms.extend(command.values("--target", None).into_iter().map(Some));
    folders.extend(
        platforms
            .iter()
            .filter_map(|platform| of_rustc(platform.as_deref(), folder)),
    );
    match env::var_os(VARIABLE) {
        Some(own) => folders.extend(env::split_paths(&own)),
        None => folders.extend(usual()),
    }
    env::join_paths(folders).ok()
}

/// The folders of the profile, and `deps` in each: there are two if the intermediate files are elsewhere, or are those of macros.
fn of_files<'a>(files: impl Iterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for folder in files.filter_map(Path::parent) {
        let is_inner = ["deps", "examples"].map(OsStr::new);
        let is_inner = folder
            .file_name()
            .is_some_and(|name| is_inner.contains(&name));
        let profile = folder.parent().filter(|_| is_inner).unwrap_or(folder);
        folders.extend([profile.join("deps"), profile.to_owned()]);
    }
    folders
}

/// Where a build script has put libraries. As for cargo, those of the system are not among them.
fn of_script(script: &BuildScript) -> impl Iterator<Item = PathBuf> {
    let paths = script.linked_paths.iter().map(|path| path.as_str());
    let plain = paths.map(|path| path.split_once('=').map_or(path, |(_, path)| path));
    plain
        .map(PathBuf::from)
        .filter(|path| path.starts_with(&script.out_dir))
}

/// Where the toolchain has the standard library for a platform.
fn of_rustc(platform: Option<&OsStr>, folder: &Path) -> Option<PathBuf> {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--print", "target-libdir"]).current_dir(folder);
    if let Some(platform) = platform {
        rustc.arg("--target").arg(platform);
    }
    let output = rustc.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().into()).filter(|path: &PathBuf| path.is_absolute())
}

/// Where macOS looks if the variable is not set. Setting it would replace these.
fn usual() -> Vec<PathBuf> {
    if !cfg!(target_vendor = "apple") {
        return Vec::new();
    }
    let own = env::var_os("HOME").map(|home| Path::new(&home).join("lib"));
    let common = ["/usr/local/lib", "/usr/lib"].map(PathBuf::from);
    own.into_iter().chain(common).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Build, CargoVerb, Measurement, Project};
    use crate::execute::Batch;
    use crate::input::Input;
    use crate::test_files::write;

    #[test]
    fn a_dynamic_library_of_the_build_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| write(&dir.path().join(path), text);
        let app = "[package]\nname = \"app\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nlibrary = { path = \"library\" }\n";
        let library =
            "[package]\nname = \"library\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"dylib\"]\n";
        write("Cargo.toml", app);
        write("src/main.rs", "fn main() { library::f() }");
        write("library/Cargo.toml", library);
        write("library/src/lib.rs", "pub fn f() {}");
        let command = CargoCommand {
            verb: CargoVerb::Run,
            options: vec!["--offline".into()],
            arguments: Vec::new(),
        };
        let build = Build {
            project: &Project::find(&command, dir.path()).unwrap(),
            command: &command,
            folder: dir.path(),
            target: Some(dir.path().join("target")),
            intermediate: None,
            environment: Vec::new(),
            title: String::new(),
        };
        let executables = build.executables(Measurement::AsIs).unwrap();
        let mut input = Input::for_runs(1).unwrap();
        let ended = Batch::silent(&executables).run_once(&mut input).unwrap();
        assert_eq!(ended.status, 0);
    }

    #[test]
    fn the_profiles_folders_are_those_of_all_files() {
        let files = [
            "/t/debug/app",
            "/b/debug/deps/lib.rlib",
            "/t/debug/examples/x",
        ];
        let folders = of_files(files.into_iter().map(Path::new));
        let expected = ["/b/debug", "/b/debug/deps", "/t/debug", "/t/debug/deps"];
        assert!(folders.iter().eq(expected.map(Path::new)), "{folders:?}");
    }

    #[test]
    fn the_toolchain_says_where_its_libraries_are() {
        let folder = of_rustc(None, Path::new(".")).unwrap();
        assert!(folder.is_dir(), "{folder:?}");
    }
}
