//! The wrappers of rustc that the user has told cargo to start. Where this program takes the place of one, it starts that in turn.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use toml_edit::DocumentMut;

use super::command::CONFIG;
use super::{CargoCommand, sharing};

/// Cargo's settings for a wrapper of all crates, and for one of the workspace's crates, which the former starts.
const ALL: &str = "rustc-wrapper";
const MEMBERS: &str = "rustc-workspace-wrapper";

/// The variable that has priority over the setting.
fn variable(setting: &str) -> String {
    setting.replace('-', "_").to_uppercase()
}

/// Set for cargo: the user's own wrapper, which is empty if there is none.
fn users(setting: &str) -> String {
    format!("CARGO_TSC_{}", variable(setting))
}

/// The environment variables that put `wrapper` in the place of the user's: that of the workspace's crates and, if `for_all` is true or the
/// user has one, also that of all crates, which may expect that it is given the compiler and nothing else.
pub fn environment(
    command: &CargoCommand,
    wrapper: &Path,
    for_all: bool,
) -> Vec<(OsString, OsString)> {
    let here = env::current_dir().unwrap_or_default();
    let own = |setting| of_user(setting, command, &here, |name| env::var_os(name));
    let mut replaced = vec![(MEMBERS, own(MEMBERS))];
    let of_all = own(ALL);
    if for_all || !of_all.is_empty() {
        replaced.push((ALL, of_all));
    }
    let variables = replaced.into_iter().flat_map(|(setting, own)| {
        [
            (variable(setting).into(), wrapper.into()),
            (users(setting).into(), own),
        ]
    });
    variables.collect()
}

/// What cargo starts a wrapper for.
#[derive(Debug)]
pub struct Call {
    /// The compiler.
    pub rustc: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Whether the crate is one of the workspace's.
    is_member: bool,
}

impl Call {
    /// What this program is started for, if it is started as a wrapper. As that of all crates, it is given that of the workspace, which is itself.
    #[must_use]
    pub fn of_this_program() -> Option<Self> {
        let mut words = env::args_os().skip(1).peekable();
        let is_rustc = |word: &OsString| sharing::is_rustc(Path::new(word));
        let is_wrapper = |word: &OsString| {
            let path = Path::new(word);
            path.is_absolute() && path.file_name() == sharing::wrapper(0).file_name()
        };
        let wrapper = words.next_if(|word| !is_rustc(word) && is_wrapper(word));
        Some(Self {
            rustc: words.next().filter(is_rustc)?,
            arguments: words.collect(),
            is_member: wrapper.is_some() || env::var_os(users(ALL)).is_none(),
        })
    }

    /// The compiler behind the user's wrappers, without its arguments.
    #[must_use]
    pub fn command(&self) -> Command {
        let own = |setting| env::var_os(users(setting)).filter(|it| !it.is_empty());
        let of_members = own(MEMBERS).filter(|_| self.is_member);
        let words = [own(ALL), of_members, Some(self.rustc.clone())];
        let mut words = words.into_iter().flatten();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        // If one of them is this program, it does not start itself again and again.
        for setting in [ALL, MEMBERS] {
            command.env_remove(users(setting));
        }
        command
    }
}

/// The wrapper that cargo, if it is started in `here`, would start. Empty if there is none.
fn of_user(
    setting: &str,
    command: &CargoCommand,
    here: &Path,
    value: impl Fn(&str) -> Option<OsString>,
) -> OsString {
    let variable = variable(setting);
    let of_variable = |name: &str| Some(found(&value(name)?, here));
    let of_file = |file: &Path| {
        let text = fs::read_to_string(file).ok()?;
        of_text(setting, &text, file.parent()?.parent()?)
    };
    let of_folder = |folder: &Path| {
        of_file(&folder.join("config")).or_else(|| of_file(&folder.join("config.toml")))
    };
    let of_option = || {
        let options = command.values(CONFIG, None).into_iter().rev();
        let mut found = options.filter_map(|it| match Path::new(&it).is_file() {
            true => of_file(Path::new(&it)),
            false => of_text(setting, it.to_str()?, here),
        });
        found.next()
    };
    let of_home = || {
        let home = value("CARGO_HOME").map(Into::into);
        of_folder(&home.or_else(|| Some(env::home_dir()?.join(".cargo")))?)
    };
    of_variable(&variable)
        .or_else(of_option)
        .or_else(|| of_variable(&format!("CARGO_BUILD_{variable}")))
        .or_else(|| {
            here.ancestors()
                .find_map(|it| of_folder(&it.join(".cargo")))
        })
        .or_else(of_home)
        .unwrap_or_default()
}

/// The value of a setting in this text.
fn of_text(setting: &str, text: &str, root: &Path) -> Option<OsString> {
    let settings: DocumentMut = text.parse().ok()?;
    let value = settings.get("build")?.get(setting)?.as_str()?;
    Some(found(value.as_ref(), root))
}

/// A program by its path, or by its name, for which the system searches.
fn found(program: &OsStr, root: &Path) -> OsString {
    match Path::new(program).components().count() {
        0 | 1 => program.to_owned(),
        _ => root.join(program).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::What;
    use crate::test_files::write;

    #[test]
    fn the_users_wrapper_is_the_one_that_cargo_would_start() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| write(&dir.path().join(path), text);
        let here = dir.path().join("around/here");
        let given = |variables: &[(&str, &str)], options: &[&str]| {
            let options = options.iter().flat_map(|it| [CONFIG, it]);
            let words: Vec<OsString> = options.map(OsString::from).collect();
            let Ok(What::Cargo(command)) = What::parse(&words) else {
                panic!("{words:?}")
            };
            let home = dir.path().join("home").into_os_string();
            of_user(ALL, &command, &here, |name| match name {
                "CARGO_HOME" => Some(home.clone()),
                _ => {
                    let mut all = variables.iter();
                    all.find(|it| it.0 == name).map(|it| it.1.into())
                }
            })
        };
        let path = |path: &str| dir.path().join(path);
        assert_eq!(given(&[], &[]), "");
        write(
            "home/config.toml",
            "build = { rustc-wrapper = \"sccache\" }",
        );
        assert_eq!(given(&[], &[]), "sccache");
        let text = "[build]\nrustc-wrapper = \"tools/wrap\"\n";
        write("around/.cargo/config.toml", text);
        write("around/here/.cargo/config.toml", "[build]\njobs = 1\n");
        assert_eq!(given(&[], &[]), path("around/tools/wrap"));
        let of_build = ("CARGO_BUILD_RUSTC_WRAPPER", "./wrap");
        assert_eq!(given(&[of_build], &[]), here.join("./wrap"));
        let option = ["build.rustc-wrapper=\"a\"", "build.rustc-wrapper=\"b\""];
        assert_eq!(given(&[of_build], &option), "b");
        let file = dir.path().join("around/.cargo/config.toml");
        let options = [option[0], file.to_str().unwrap()];
        assert_eq!(given(&[], &options), path("around/tools/wrap"));
        assert_eq!(given(&[("RUSTC_WRAPPER", "")], &option), "");
    }
}
