//! The stacks of a program, as `perf` sees them, with the functions that the compiler has inlined, by their files: line tables have no linker names.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use super::profile::{output, record_stacks};

/// A stack, innermost function first.
pub type Stack = Vec<Files>;

/// A place in a function of the executable: the files of the functions that are inlined there, innermost first, and at last the function's own.
/// Empty if there is no information on it.
pub type Files = Vec<String>;

/// Records one run of the program, which has line tables.
pub fn record(executable: &Path, arguments: &[String]) -> io::Result<Vec<Stack>> {
    let data = record_stacks(executable, arguments)?;
    let mut script = Command::new("perf");
    script.args(["script", "--no-inline", "--no-demangle"]);
    script.args(["-F", "ip,sym,symoff", "-i"]).arg(&data);
    let text = output(&mut script)?;
    let starts = symbols(executable)?;
    let stacks: Vec<Vec<Option<u64>>> = text
        .split("\n\n")
        .map(|stack| places(stack, &starts))
        .collect();
    let addresses: BTreeSet<u64> = stacks
        .iter()
        .flatten()
        .filter_map(|address| *address)
        .collect();
    let inlined = inlined(executable, &addresses)?;
    let files = |address: &Option<u64>| -> Files {
        let known = address.and_then(|at| inlined.get(&at).cloned());
        known.unwrap_or_default()
    };
    let stacks = stacks.iter().map(|stack| stack.iter().map(files).collect());
    Ok(stacks.filter(|stack: &Stack| !stack.is_empty()).collect())
}

/// Parses lines like `55d0 symbol+0x12`. An address is `None` if it is not one of the executable's.
fn places(stack: &str, starts: &HashMap<String, u64>) -> Vec<Option<u64>> {
    let mut places = Vec::new();
    for line in stack.lines() {
        let Some(function) = line.split_whitespace().nth(1) else {
            continue;
        };
        let (symbol, offset) = function.rsplit_once("+0x").unwrap_or((function, "0"));
        let offset = u64::from_str_radix(offset, 16).unwrap_or(0);
        // A caller's address is that after the call, which may be in another line.
        let back = u64::from(!places.is_empty());
        let address = starts
            .get(symbol)
            .map(|start| start + offset - back.min(offset));
        places.push(address);
    }
    places
}

fn symbols(executable: &Path) -> io::Result<HashMap<String, u64>> {
    let text = output(Command::new("nm").arg(executable))?;
    let parse = |line: &str| {
        let mut words = line.split(' ');
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        Some((words.nth(1)?.to_owned(), address))
    };
    Ok(text.lines().filter_map(parse).collect())
}

/// The files at each address.
fn inlined(executable: &Path, addresses: &BTreeSet<u64>) -> io::Result<HashMap<u64, Files>> {
    let mut command = Command::new("addr2line");
    command.args(["-a", "-f", "-i", "-e"]).arg(executable);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let text: String = addresses.iter().map(|at| format!("{at:#x}\n")).collect();
    // Both pipes can be full.
    let writer = thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| io::ErrorKind::BrokenPipe)??;
    Ok(files(&String::from_utf8_lossy(&output.stdout)))
}

/// Parses an address, and then two lines for each function: its name and its place.
fn files(text: &str) -> HashMap<u64, Files> {
    let mut all: HashMap<u64, Files> = HashMap::new();
    let mut lines = text.lines().peekable();
    while let Some(address) = lines.next() {
        let address = address.trim_start_matches("0x");
        let files = all
            .entry(u64::from_str_radix(address, 16).unwrap_or(0))
            .or_default();
        while lines.next_if(|line| !line.starts_with("0x")).is_some() {
            let place = lines.next().unwrap_or_default();
            let (file, _line) = place.rsplit_once(':').unwrap_or((place, ""));
            files.push(file.to_owned());
        }
        files.retain(|file| file != "??");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::files;

    #[test]
    fn files_are_read_innermost_first() {
        let text = "0x0000000000000010\nb\n/y.rs:2\na\n/x.rs:1\n0x20\n??\n??:0\n";
        let all = files(text);
        assert_eq!(all[&0x10], ["/y.rs", "/x.rs"]);
        assert!(all[&0x20].is_empty());
    }
}
