//! Where a program without probes is, as `perf` sees it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::Command;

use super::calls::Names;
use super::process::output;

/// Samples a second of CPU time.
pub const RATE: &str = "20000";
/// The same where the stack is copied with each sample.
pub const STACK_RATE: &str = "4000";
pub const STACK: &str = "dwarf,8192";

/// Samples by name.
pub type Samples = HashMap<String, f64>;

/// Fails if there is no `perf`.
pub fn check() -> io::Result<()> {
    let found = Command::new("perf").arg("--version").output();
    found.map(drop).map_err(|error| {
        let said = format!("perf, which is in Debian's package linux-perf, is missing: {error}");
        io::Error::new(error.kind(), said)
    })
}

/// The samples of one run, by linker name.
pub fn record(executable: &Path, turns: u64) -> io::Result<Samples> {
    record_command(executable, &[turns.to_string()])
}

/// The samples of one run with these arguments, by linker name.
pub fn record_command(executable: &Path, arguments: &[String]) -> io::Result<Samples> {
    let data = executable.with_extension("perf");
    perf(&["record", "-F", RATE], &data, executable, arguments)?;
    let mut report = Command::new("perf");
    report.args(["report", "--stdio", "--no-children", "--no-inline"]);
    report.args(["--no-demangle", "-F", "sample,sym", "-i"]);
    Ok(output(report.arg(&data))?
        .lines()
        .filter_map(sample)
        .collect())
}

/// For each function without a row, by linker name: the samples of the rows that called it, directly or through other such functions.
pub struct Callers(HashMap<String, Samples>);

impl Callers {
    pub fn record(executable: &Path, turns: u64, names: &Names) -> io::Result<Self> {
        let data = executable.with_extension("stacks");
        let record = ["record", "-F", STACK_RATE, "--call-graph", STACK];
        perf(&record, &data, executable, &[turns.to_string()])?;
        let mut script = Command::new("perf");
        script.args([
            "script",
            "--no-inline",
            "--no-demangle",
            "-F",
            "ip,sym",
            "-i",
        ]);
        let mut callers: HashMap<String, Samples> = HashMap::new();
        for stack in output(script.arg(&data))?.split("\n\n") {
            let mut functions = stack
                .lines()
                .filter_map(|line| line.split_whitespace().nth(1));
            let Some(innermost) = functions.next() else {
                continue;
            };
            if names.find_around(innermost).is_some() {
                continue;
            }
            if let Some(row) = functions.find_map(|function| names.find_around(function)) {
                let samples = callers.entry(innermost.to_owned()).or_default();
                *samples.entry(row).or_default() += 1.0;
            }
        }
        Ok(Self(callers))
    }

    /// The samples by row. Those of functions without a row are their callers', as in the report of light probes.
    pub fn by_row(&self, samples: &Samples, names: &Names) -> Samples {
        let mut rows = Samples::new();
        for (function, count) in samples {
            if let Some(row) = names.find_around(function) {
                *rows.entry(row).or_default() += count;
            } else if let Some(callers) = self.0.get(function) {
                let all: f64 = callers.values().sum();
                for (row, part) in callers {
                    *rows.entry(row.clone()).or_default() += count * part / all;
                }
            }
        }
        rows
    }
}

/// Records the program.
pub fn perf(
    options: &[&str],
    data: &Path,
    executable: &Path,
    arguments: &[String],
) -> io::Result<()> {
    let mut record = Command::new("perf");
    record
        .args(options)
        .args(["-q", "-e", "cpu-clock", "-o"])
        .arg(data);
    output(record.arg("--").arg(executable).args(arguments)).map(drop)
}

/// Parses `12  [.] symbol`.
fn sample(line: &str) -> Option<(String, f64)> {
    let (count, place) = line.trim().split_once(' ')?;
    let (kind, symbol) = place.trim().split_once("] ")?;
    kind.starts_with('[')
        .then_some((symbol.trim().to_owned(), count.parse().ok()?))
}
