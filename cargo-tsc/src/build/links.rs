//! Links a program several times, each time with its functions in another order. Where a function lies in memory changes its time, so
//! revisions are compared in several orders. Nothing is compiled again: this program takes rustc's place and then the linker's, which has
//! everything at hand. It needs the linker `lld`, which rustc comes with on most systems.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use regex_lite::Regex;

use super::Executable;
use super::wrappers::Call;

/// Set for cargo: the folder for the links of all programs.
const FOLDER: &str = "CARGO_TSC_LINKS";
/// Set for cargo: the number of orders.
const COUNT: &str = "CARGO_TSC_ORDERS";
/// Set for rustc: the linker in whose place this program is.
const LINKER: &str = "CARGO_TSC_LINKER";
/// Set for rustc: the folder of the system's `lld`.
const LLD: &str = "CARGO_TSC_LLD";

/// In the folder for the links of one program: a copy of the program, and the path of the program itself.
const COPY: &str = "as-it-is";
const OUTPUT: &str = "output";

/// The environment variables for cargo, if programs are to be linked in `count` orders and this program is the wrapper of rustc.
#[must_use]
pub fn environment(folder: &Path, count: u32) -> Vec<(OsString, OsString)> {
    vec![
        (FOLDER.into(), folder.into()),
        (COUNT.into(), count.to_string().into()),
    ]
}

/// Removes the programs that an earlier build has linked in fewer orders, so that cargo links them again.
pub fn remove_with_fewer(folder: &Path, count: u32) {
    let folders = fs::read_dir(folder).into_iter().flatten();
    for links in folders.filter_map(Result::ok).map(|entry| entry.path()) {
        if (1..=count).all(|order| links.join(order.to_string()).exists()) {
            continue;
        }
        // If one is gone already, so much the better.
        let _ = fs::read_to_string(links.join(OUTPUT)).and_then(fs::remove_file);
        let _ = fs::remove_dir_all(links);
    }
}

/// The executable in each of `count` orders. Empty if it could not be linked so.
#[must_use]
pub fn orders(folder: &Path, executable: &Executable, count: u32) -> Vec<Executable> {
    let links = || {
        let length = |path: &Path| Some(fs::metadata(path).ok()?.len());
        let program = fs::read(&executable.path).ok()?;
        let mut folders = fs::read_dir(folder).ok()?.filter_map(Result::ok);
        // There may be many, of other features and versions.
        folders.find(|entry| {
            let linked = entry.path().join(COPY);
            length(&linked) == Some(program.len() as u64)
                && fs::read(linked).is_ok_and(|it| it == program)
        })
    };
    let Some(links) = links() else {
        return Vec::new();
    };
    let path = |order: u32| links.path().join(order.to_string());
    let paths: Vec<PathBuf> = (1..=count).map(path).collect();
    if !paths.iter().all(|path| path.exists()) {
        return Vec::new();
    }
    paths
        .into_iter()
        .map(|path| Executable {
            path,
            ..executable.clone()
        })
        .collect()
}

/// Does the work of rustc or of the linker, if this program was started in place of one of them.
#[must_use]
pub fn take_place() -> Option<ExitCode> {
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    let status = match std::env::var_os(LINKER) {
        Some(linker) => {
            let count = std::env::var(COUNT).ok()?.parse().ok()?;
            let words: Vec<OsString> = std::env::args_os().skip(1).collect();
            link(&linker, &words, &folder, count)
        }
        None => compile(&Call::of_this_program()?, &folder),
    };
    Some(match status {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            anstream::eprintln!("error: the compiler or the linker cannot be started: {error}");
            ExitCode::from(2)
        }
    })
}

fn run(command: &mut Command) -> io::Result<u8> {
    Ok(command.status()?.code().unwrap_or(1) as u8)
}

/// Compiles. If that makes a program, this one is its linker.
fn compile(call: &Call, folder: &Path) -> io::Result<u8> {
    let words = &call.arguments;
    let mut command = call.command();
    command.args(words).env_remove(FOLDER);
    let text: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let value = |name: &str| {
        text.windows(2)
            .find(|pair| pair[0] == name)
            .map(|pair| pair[1])
    };
    let codegen = |name: &str| {
        let mut values = text.iter().rev().filter_map(|word| {
            let word = word.strip_prefix("-C").unwrap_or(word);
            word.strip_prefix(name)?.strip_prefix('=')
        });
        values.next().unwrap_or_default()
    };
    let linker = match codegen("linker") {
        "" => "cc",
        linker => linker,
    };
    let is_driver = ["cc", "gcc", "clang"]
        .iter()
        .any(|name| linker.ends_with(name));
    let is_program = value("--crate-type") == Some("bin") || text.contains(&"--test");
    let name = value("--crate-name").unwrap_or_default();
    if cfg!(unix) && is_program && is_driver && !name.starts_with("build_script_") {
        let libraries = Command::new(&call.rustc)
            .args(["--print", "target-libdir"])
            .output()?;
        let libraries = PathBuf::from(String::from_utf8_lossy(&libraries.stdout).trim());
        let mut this = OsString::from("-Clinker=");
        this.push(std::env::current_exe()?);
        command
            .arg(this)
            .env(LINKER, linker)
            .env(LLD, libraries.with_file_name("bin").join("gcc-ld"))
            .env(
                FOLDER,
                folder.join(format!("{name}{}", codegen("extra-filename"))),
            );
    }
    run(&mut command)
}

/// Links as asked to, and then in `count` other orders, to files in `folder`. Leaves none there if that is not possible.
fn link(linker: &OsStr, words: &[OsString], folder: &Path, count: u32) -> io::Result<u8> {
    let status = run(Command::new(linker).args(words))?;
    let output = words
        .windows(2)
        .find(|pair| pair[0] == "-o")
        .map(|pair| &pair[1]);
    if let (0, Some(output)) = (status, output) {
        let _ = fs::remove_dir_all(folder);
        // The program itself is there, so this is no error.
        if link_in_orders(linker, words, output, folder, count).is_err() {
            let _ = fs::remove_dir_all(folder);
        }
    }
    Ok(status)
}

fn link_in_orders(
    linker: &OsStr,
    words: &[OsString],
    output: &OsStr,
    folder: &Path,
    count: u32,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::copy(output, folder.join(COPY))?;
    let output = std::path::absolute(output)?;
    fs::write(folder.join(OUTPUT), output.as_os_str().as_encoded_bytes())?;
    if count == 0 {
        return Ok(());
    }
    let link = |option: &str, file: &Path, output: &str| {
        // In `-Wl,`, a comma in the path would begin another argument.
        let mut argument = OsString::from(option);
        argument.push(file);
        let mut lld = OsString::from("-B");
        lld.push(std::env::var_os(LLD).unwrap_or_default());
        let mut command = Command::new(linker);
        command
            .args(words)
            .arg(lld)
            .arg("-fuse-ld=lld")
            .args(["-Xlinker", "--no-warn-symbol-ordering", "-Xlinker"])
            .arg(argument);
        command.arg("-o").arg(folder.join(output));
        let output = command.output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(io::Error::other("this linker has no orders")),
        }
    };
    let (map, list) = (folder.join("map"), folder.join("list"));
    link("-Map=", &map, "mapped")?;
    let text = fs::read_to_string(&map)?;
    let functions = functions(&text);
    for order in 1..=count {
        fs::write(&list, in_order(&functions, order).join("\n"))?;
        link("--symbol-ordering-file=", &list, &order.to_string())?;
    }
    fs::remove_file(folder.join("mapped"))
}

/// The functions in a linker's map, each of which is in a section of its own.
fn functions(map: &str) -> BTreeSet<&str> {
    let names = map.lines().filter_map(|line| line.split_once(":(.text."));
    let names = names.filter_map(|(_, name)| name.trim_end().strip_suffix(')'));
    let parts = ["unlikely.", "hot.", "startup.", "exit."];
    names
        .map(|name| {
            parts
                .iter()
                .find_map(|part| name.strip_prefix(part))
                .unwrap_or(name)
        })
        .collect()
}

/// The functions in an order that depends on their names without the compiler's hashes. So the functions that two revisions have in common
/// follow each other in the same way, and what differs between them is not where these functions lie.
fn in_order<'a>(functions: &BTreeSet<&'a str>, order: u32) -> Vec<&'a str> {
    let hashes =
        Regex::new("17h[0-9a-f]{16}E|Cs[0-9A-Za-z]+_|\\.llvm\\.[0-9]+").expect("it is valid");
    let mut keyed: Vec<(u64, &str)> = functions
        .iter()
        .map(|name| {
            let mut hasher = DefaultHasher::new();
            (order, hashes.replace_all(name, "")).hash(&mut hasher);
            (hasher.finish(), *name)
        })
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests;
