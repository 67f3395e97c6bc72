//! Calls from each annotated function to each other one, counted by callgrind.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use super::callgrind::short;

/// Calls by caller and callee.
pub type Arcs = BTreeMap<(String, String), u64>;

/// The calls that `executable` makes. A function without a row counts as part of its callers, so its calls are theirs.
pub fn arcs(executable: &Path, names: &Names) -> io::Result<Arcs> {
    let out = executable.with_extension("callgrind");
    let options: Vec<String> = symbols(executable)?
        .into_iter()
        .filter(|symbol| names.find(symbol).is_none())
        .map(|symbol| format!("--fn-skip={symbol}"))
        .collect();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .args(&options)
        .arg(executable)
        .output()?;
    if !output.status.success() {
        return Err(failed(&output.stderr));
    }
    Ok(parse(&fs::read_to_string(&out)?, names))
}

fn failed(complaints: &[u8]) -> io::Error {
    io::Error::other(String::from_utf8_lossy(complaints).into_owned())
}

/// The linker names of the Rust functions in the executable.
fn symbols(executable: &Path) -> io::Result<Vec<String>> {
    let output = Command::new("nm").arg(executable).output()?;
    if !output.status.success() {
        return Err(failed(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| {
        // address kind name
        let (place, name) = line.rsplit_once(' ')?;
        let is_code = place.ends_with(['t', 'T', 'w', 'W']);
        (is_code && (name.starts_with("_ZN") || name.starts_with("_R"))).then(|| name.to_owned())
    });
    Ok(names.collect())
}

/// The names of all rows, to find the row of a linker name.
#[derive(Default)]
pub struct Names {
    paths: HashSet<String>,
    /// For `<Type as Trait>::method`, a linker name has the module of the type, but a row has the module of the implementation. So the
    /// keys have no module, or only type and method. `None` if several rows have the same key.
    methods: HashMap<String, Option<String>>,
}

impl Names {
    /// Adds a row. Returns its name in [`Arcs`].
    pub fn add(&mut self, module: &str, name: &str) -> String {
        let path = format!("{module}::{}", without_generics(name));
        if name.contains("::") {
            for key in keys(name) {
                let known = self.methods.entry(key).or_insert(Some(path.clone()));
                known.take_if(|known| *known != path);
            }
        }
        self.paths.insert(path.clone());
        path
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The row of the function with this linker name. Closures have no row.
    #[must_use]
    pub fn find(&self, symbol: &str) -> Option<String> {
        let name = format!("{:#}", rustc_demangle::demangle(symbol));
        if name.contains("{{closure}}") || name.contains("{closure#") {
            return None;
        }
        self.find_plain(&name)
    }

    /// The same, but a closure belongs to the function that it is written in.
    #[must_use]
    pub fn find_around(&self, symbol: &str) -> Option<String> {
        let name = format!("{:#}", rustc_demangle::demangle(symbol));
        let mut function = name.as_str();
        while function.ends_with('}')
            && let Some(begin) = function.rfind("::{")
        {
            function = &function[..begin];
        }
        self.find_plain(function)
    }

    fn find_plain(&self, name: &str) -> Option<String> {
        // If an implementation is not in the module of its type, the name is `module::<impl Type>::method`.
        if let Some(begin) = name
            .find("<impl ")
            .or_else(|| name.find('<').filter(|at| *at == 0))
        {
            let method = &name[begin..];
            return keys(method)
                .iter()
                .find_map(|key| self.methods.get(key).cloned().flatten());
        }
        Some(without_generics(name)).filter(|path| self.paths.contains(path))
    }
}

/// The keys of a method, the most exact one first. Linker names have no lifetimes, and have the parameters of a trait only if they differ
/// from the defaults.
fn keys(method: &str) -> [String; 3] {
    let exact = without_modules(method)
        .replace("<'_>", "")
        .replace("'_, ", "");
    let plain = without_generics(exact.trim_start_matches('<'));
    [exact, plain, short(&method.replacen("<impl ", "<", 1))]
}

/// Turns `<a::Type as b::Trait<c::Other>>::method` into `<Type as Trait<Other>>::method`.
fn without_modules(name: &str) -> String {
    let mut plain = String::new();
    for word in name.split_inclusive(|char: char| !char.is_alphanumeric() && !"_:".contains(char)) {
        let begin = if word.starts_with("::") {
            0
        } else {
            word.rfind("::").map_or(0, |at| at + 2)
        };
        plain.push_str(&word[begin..]);
    }
    plain
}

/// Turns `a::Type<T>::method` into `a::Type::method`. Names that begin with an angle bracket do not change.
fn without_generics(path: &str) -> String {
    if path.starts_with('<') {
        return path.to_owned();
    }
    let (mut depth, mut plain) = (0_u32, String::new());
    for char in path.chars() {
        match char {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(char),
            _ => {}
        }
    }
    plain
}

fn parse(text: &str, names: &Names) -> Arcs {
    // Each depth of a recursive function has its own name, which ends with a quote and the depth.
    let name = |text: &str| names.find(text.split('\'').next().unwrap_or(text));
    let mut arcs = Arcs::new();
    let (mut function, mut callee) = (None, None);
    for line in text.lines() {
        if let Some(symbol) = line.strip_prefix("fn=") {
            function = name(symbol);
        } else if let Some(symbol) = line.strip_prefix("cfn=") {
            callee = name(symbol);
        } else if let Some(calls) = line.strip_prefix("calls=") {
            let calls: Option<u64> = calls.split(' ').next().and_then(|calls| calls.parse().ok());
            if let (Some(callee), Some(calls)) = (callee.take(), calls) {
                let caller = function.clone().unwrap_or_default();
                *arcs.entry((caller, callee)).or_default() += calls;
            }
        }
    }
    arcs
}
