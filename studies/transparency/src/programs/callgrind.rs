//! The instructions of each annotated function, without its annotated callees, counted by callgrind.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

/// How often the instructions of functions without a row are passed on to their callers. Chains of such functions are shorter than this.
const PASSES: usize = 64;

/// Instructions by name. `name` converts the linker's names. The instructions of functions that are not rows are added to their callers.
pub fn instructions(
    executable: &Path,
    arguments: &[String],
    name: impl Fn(&str) -> String,
    is_row: impl Fn(&str) -> bool,
) -> io::Result<HashMap<String, f64>> {
    let out = executable.with_extension("callgrind");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--demangle=no", "--compress-strings=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(executable)
        .args(arguments)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    let profile = Profile::parse(&fs::read_to_string(&out)?, name);
    Ok(profile.by_row(is_row))
}

/// Instructions by function, and by call from one to another.
#[derive(Default)]
struct Profile {
    own: HashMap<String, f64>,
    /// By callee and caller: the instructions in the callee and in all functions that it called.
    callers: HashMap<String, HashMap<String, f64>>,
}

impl Profile {
    fn parse(text: &str, name: impl Fn(&str) -> String) -> Self {
        // The name of a recursive function ends with a quote and the depth.
        let name = |symbol: &str| name(symbol.split('\'').next().unwrap_or(symbol));
        let mut profile = Self::default();
        let mut function = String::new();
        let mut callee = None;
        for line in text.lines() {
            if let Some(symbol) = line.strip_prefix("fn=") {
                function = name(symbol);
            } else if let Some(symbol) = line.strip_prefix("cfn=") {
                callee = Some(name(symbol));
            } else if line
                .starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
            {
                let cost = line.split(' ').nth(1).and_then(|cost| cost.parse().ok());
                let Some(cost): Option<f64> = cost else {
                    continue;
                };
                match callee.take() {
                    // The line after `calls=` has the instructions that the callee executed.
                    Some(callee) => {
                        let callers = profile.callers.entry(callee).or_default();
                        *callers.entry(function.clone()).or_default() += cost;
                    }
                    None => *profile.own.entry(function.clone()).or_default() += cost,
                }
            }
        }
        profile
    }

    fn by_row(mut self, is_row: impl Fn(&str) -> bool) -> HashMap<String, f64> {
        for _ in 0..PASSES {
            let mut next: HashMap<String, f64> = HashMap::new();
            for (function, cost) in self.own.drain() {
                let callers = self.callers.get(&function);
                let sum: f64 = callers.map_or(0.0, |callers| callers.values().sum());
                match callers {
                    Some(callers) if !is_row(&function) && sum > 0.0 => {
                        for (caller, part) in callers {
                            *next.entry(caller.clone()).or_default() += cost * part / sum;
                        }
                    }
                    _ => *next.entry(function).or_default() += cost,
                }
            }
            self.own = next;
        }
        self.own
    }
}

/// The short form of a linker name.
pub fn demangled(name: &str) -> String {
    short(&format!("{:#}", rustc_demangle::demangle(name)))
}

/// The last two parts of a path, without generic arguments. A symbol and the name of its row have the same short form.
pub fn short(path: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::new();
    let mut chars = path.chars().peekable();
    let mut last = ' ';
    while let Some(char) = chars.next() {
        match char {
            // `<T as Trait>::f` counts as a method of T.
            '<' if plain.is_empty() => {}
            '<' => depth += 1,
            '>' if last == '-' => {}
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && chars.peek() == Some(&'a') => depth += 1,
            _ if depth == 0 => plain.push(char),
            _ => {}
        }
        last = char;
    }
    let parts: Vec<&str> = plain
        .split("::")
        .filter(|part| !part.is_empty() && !part.starts_with('{'))
        .collect();
    parts[parts.len().saturating_sub(2)..].join("::")
}
