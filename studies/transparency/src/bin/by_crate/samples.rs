//! The shares of crates in a program, as `perf` sees it.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use transparency::programs::process::output;
use transparency::programs::profile::{self, perf};

use crate::forms::Crates;
use crate::{Shares, normalised};

/// Of a place in the executable: the crate of the innermost inlined function, and that of the function with a symbol.
type Owners = [Option<String>; 2];

/// A sample: the place in the executable, if it is there, and the symbol.
type Place<'a> = (Option<u64>, &'a str);

/// The shares by the innermost inlined function that is of a crate of the program, and by the symbol. What is in no crate, such as the
/// standard library, belongs to the crate of its nearest caller.
pub fn shares(executable: &Path, crates: &Crates) -> io::Result<[Shares; 2]> {
    let data = executable.with_extension("perf");
    let stacks = executable.with_extension("stacks");
    let script = |rate, options: &[&str], data: &Path| {
        let record = [&["record", "-F", rate], options].concat();
        perf(&record, data, executable, &[])?;
        let mut script = Command::new("perf");
        script.args([
            "script",
            "--no-inline",
            "--no-demangle",
            "--show-mmap-events",
            "-F",
            "ip,sym,dso",
            "-i",
        ]);
        output(script.arg(data))
    };
    let flat = script(profile::RATE, &[], &data)?;
    let deep = script(
        profile::STACK_RATE,
        &["--call-graph", profile::STACK],
        &stacks,
    )?;
    let (code, code_of_stacks) = (
        Code::find(&flat, executable)?,
        Code::find(&deep, executable)?,
    );
    let flat: Vec<Place<'_>> = flat.lines().filter_map(|line| code.sample(line)).collect();
    let stacks = deep.split("\n\n").map(|stack| {
        let lines = stack.lines().filter(|line| !line.contains("PERF_RECORD"));
        lines
            .enumerate()
            .filter_map(|(depth, line)| code_of_stacks.frame(depth, line))
    });
    let deep: Vec<Vec<Place<'_>>> = stacks.map(Iterator::collect).collect();
    let addresses = deep
        .iter()
        .flatten()
        .chain(&flat)
        .filter_map(|(address, _)| *address)
        .collect();
    let owners = owners(executable, &addresses, crates)?;
    Ok([0, 1].map(|kind| {
        let owner = |place: &Place<'_>| {
            place
                .0
                .and_then(|address| owners.get(&address)?[kind].as_deref())
        };
        let mut callers: HashMap<&str, HashMap<&str, f64>> = HashMap::new();
        for stack in &deep {
            let Some((first, rest)) = stack
                .split_first()
                .filter(|(first, _)| owner(first).is_none())
            else {
                continue;
            };
            if let Some(krate) = rest.iter().find_map(owner) {
                *callers
                    .entry(first.1)
                    .or_default()
                    .entry(krate)
                    .or_default() += 1.0;
            }
        }
        let mut shares = Shares::new();
        for place in &flat {
            if let Some(krate) = owner(place) {
                *shares.entry(krate.to_owned()).or_default() += 1.0;
            } else if let Some(of) = callers.get(place.1) {
                let all: f64 = of.values().sum();
                for (krate, part) in of {
                    *shares.entry((*krate).to_owned()).or_default() += part / all;
                }
            } else {
                *shares.entry("(unknown)".to_owned()).or_default() += 1.0;
            }
        }
        normalised(shares)
    }))
}

/// Where the code of the executable is.
struct Code {
    /// How perf names the executable.
    dso: String,
    /// From an address in memory to the offset in the file.
    to_file: u64,
    /// From the offset in the file to the linker's address.
    to_address: u64,
}

impl Code {
    /// Reads `… [0xBEGIN(0xLENGTH) @ 0xOFFSET …]: r-xp PATH`.
    fn find(script: &str, executable: &Path) -> io::Result<Self> {
        let path = executable.display().to_string();
        let is_mapping = |line: &&str| line.ends_with(&path) && line.contains(" r-xp ");
        let numbers = script.lines().find(is_mapping).and_then(|line| {
            let (begin, rest) = line.split_once("[0x")?.1.split_once('(')?;
            let offset = rest.split_once(") @ ")?.1.split(' ').next()?;
            hex(begin).zip(hex(offset.trim_start_matches("0x")))
        });
        let Some((begin, offset)) = numbers else {
            let said = format!("perf has not seen where {path} was");
            return Err(io::Error::other(said));
        };
        let mut headers = Command::new("readelf");
        let headers = output(headers.arg("-lW").arg(executable))?;
        // LOAD OFFSET ADDRESS … R E
        let mut lines = headers.lines();
        let code = lines.find(|line| line.contains("LOAD") && line.contains("R E"));
        let mut code = code.into_iter().flat_map(str::split_whitespace).skip(1);
        let mut next = || {
            code.next()
                .and_then(|word| hex(word.trim_start_matches("0x")))
        };
        let (in_file, address) = (next().unwrap_or(0), next().unwrap_or(0));
        Ok(Self {
            dso: format!("({path})"),
            to_file: offset.wrapping_sub(begin),
            to_address: address - in_file,
        })
    }

    /// Parses `address symbol (file)` of a sample without its callers, in which the address is that in memory.
    fn sample<'a>(&self, line: &'a str) -> Option<Place<'a>> {
        self.place(line, self.to_file)
    }

    /// The same of a stack, in which perf prints offsets in files. Of a caller, it is that after the call.
    fn frame<'a>(&self, depth: usize, line: &'a str) -> Option<Place<'a>> {
        self.place(line, if depth > 0 { u64::MAX } else { 0 })
    }

    fn place<'a>(&self, line: &'a str, to_file: u64) -> Option<Place<'a>> {
        let (address, rest) = line.trim().split_once(' ')?;
        let (symbol, dso) = rest.rsplit_once(' ')?;
        let address = hex(address)?
            .wrapping_add(to_file)
            .wrapping_add(self.to_address);
        Some(((dso == self.dso).then_some(address), symbol))
    }
}

fn hex(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

/// The crates at all these addresses.
fn owners(
    executable: &Path,
    addresses: &BTreeSet<u64>,
    crates: &Crates,
) -> io::Result<HashMap<u64, Owners>> {
    let mut child = Command::new("addr2line")
        .args(["-a", "-i", "-e"])
        .arg(executable)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let text: String = addresses
        .iter()
        .map(|address| format!("{address:#x}\n"))
        .collect();
    let mut input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let writer = thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| io::ErrorKind::BrokenPipe)??;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut owners: HashMap<u64, Owners> = HashMap::new();
    let mut current = &mut Owners::default();
    for line in text.lines() {
        if let Some(address) = line.strip_prefix("0x").and_then(hex) {
            current = owners.entry(address).or_default();
        } else if let Some((file, _)) = line.rsplit_once(':') {
            // From the innermost function outwards.
            let krate = crates.of(file);
            current[0] = current[0].take().or_else(|| krate.clone());
            current[1] = krate;
        }
    }
    Ok(owners)
}
