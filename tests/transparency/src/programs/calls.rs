//! Calls from each annotated function to each other one, counted by callgrind.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use super::callgrind::short;

/// Calls by caller and callee.
pub type Arcs = BTreeMap<(String, String), u64>;

/// The calls that `executable` makes. What is no row counts as part of its callers, so that its calls are theirs.
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

/// The functions of Rust in it, by their linker names.
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

/// The names of rows, by which those of the linker are found.
#[derive(Default)]
pub struct Names {
    paths: HashSet<String>,
    /// Of `<Type as Trait>::method` a linker name has the type's module, and a row has its own: by the name without any module, and by
    /// type and method alone, if no two rows have the same.
    methods: HashMap<String, Option<String>>,
}

impl Names {
    /// Adds a row; returns its name in [`Arcs`].
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

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The row that has this linker name. A closure is none.
    #[must_use]
    pub fn find(&self, symbol: &str) -> Option<String> {
        let name = format!("{:#}", rustc_demangle::demangle(symbol));
        if name.contains("{{closure}}") || name.contains("{closure#") {
            return None;
        }
        // An implementation that is not beside its type is `module::<impl Type>::method`.
        if let Some(begin) = name
            .find("<impl ")
            .or_else(|| name.find('<').filter(|at| *at == 0))
        {
            let method = &name[begin..];
            return keys(method)
                .iter()
                .find_map(|key| self.methods.get(key).cloned().flatten());
        }
        Some(without_generics(&name)).filter(|path| self.paths.contains(path))
    }
}

/// What a method is found by, the most exact first: the linker's names have no lifetimes, and parameters of a trait only where they are
/// none by default.
fn keys(method: &str) -> [String; 3] {
    let exact = without_modules(method)
        .replace("<'_>", "")
        .replace("'_, ", "");
    let plain = without_generics(exact.trim_start_matches('<'));
    [exact, plain, short(&method.replacen("<impl ", "<", 1))]
}

/// `<a::Type as b::Trait<c::Other>>::method` is `<Type as Trait<Other>>::method`.
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

/// `a::Type<T>::method` is `a::Type::method`. What begins with an angle bracket is left as it is.
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
    // Of functions that recur each depth has a name, with its number behind a quote.
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
