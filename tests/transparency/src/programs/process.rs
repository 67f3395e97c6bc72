//! Runs programs, one alone or two in turns.
//!
//! Other programs, also those of other virtual machines, change the speed of a CPU for seconds. Two processes that each work for some tens of
//! milliseconds in turns, on the same CPU, are slowed down alike, so the ratio of their times is that of the programs.

use std::io::{self, BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::run::{Report, Run};

/// Runs the program, which calls its root once.
pub fn run(executable: &Path) -> io::Result<Run> {
    Process::start(&mut command(executable))?.finish()
}

/// Runs the program and records the call tree.
pub fn run_with_tree(executable: &Path) -> io::Result<Run> {
    let mut command = command(executable);
    Process::start(command.env("TSC_TREE", "1"))?.finish()
}

/// Runs two programs at the same time. Each calls its root as often as `turns` says, but never while the other does.
pub fn run_in_turns(one: &Path, other: &Path, turns: usize) -> io::Result<(Run, Run)> {
    let mut one = Process::start(&mut command(one))?;
    let mut other = Process::start(&mut command(other))?;
    for _ in 1..turns {
        one.work_again()?;
        other.work_again()?;
    }
    Ok((one.finish()?, other.finish()?))
}

fn command(executable: &Path) -> Command {
    let mut command = Command::new(executable);
    command.env("TSC_REPORT", "off");
    command
}

/// A process of `texts/main.rs`: it calls its root once when it starts, and once more for each line of its input.
struct Process {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    /// Of all calls of the root until now, in ns.
    took: f64,
    /// The result of the first call of the root.
    outcome: Option<String>,
}

impl Process {
    /// Returns when the root has been called once.
    fn start(command: &mut Command) -> io::Result<Self> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the program has no input or output"));
        };
        let mut process = Self {
            child,
            input,
            output: BufReader::new(output).lines(),
            took: 0.0,
            outcome: None,
        };
        process.add_work()?;
        Ok(process)
    }

    fn work_again(&mut self) -> io::Result<()> {
        self.input.write_all(b"\n")?;
        self.add_work()
    }

    /// Waits for the end of the root's call.
    fn add_work(&mut self) -> io::Result<()> {
        let Some(line) = self.output.next().transpose()? else {
            let status = self.child.wait()?;
            return Err(io::Error::other(format!("the program ended: {status}")));
        };
        let took = line
            .split_once(' ')
            .and_then(|(took, outcome)| Some((took.parse::<f64>().ok()?, outcome)));
        let Some((took, outcome)) = took else {
            return Err(io::Error::other(format!("not a time and a result: {line}")));
        };
        self.took += took;
        let first = self.outcome.get_or_insert_with(|| outcome.to_owned());
        if first == outcome {
            Ok(())
        } else {
            Err(io::Error::other(format!("{first} became {outcome}")))
        }
    }

    /// Lets the process end, and reads its report.
    fn finish(mut self) -> io::Result<Run> {
        drop(self.input);
        let lines = self.output.collect::<io::Result<Vec<String>>>()?;
        let status = self.child.wait()?;
        if !status.success() {
            return Err(io::Error::other(format!("the program failed: {status}")));
        }
        let report = Report::parse(&lines);
        if report.is_none() && !lines.is_empty() {
            return Err(io::Error::other(format!("not a report: {lines:?}")));
        }
        Ok(Run {
            took: self.took,
            outcome: self.outcome.unwrap_or_default(),
            report,
        })
    }
}
