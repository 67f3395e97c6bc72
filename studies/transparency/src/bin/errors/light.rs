//! Light probes on every function of programs whose functions take nanoseconds. The truth is a function's share of the samples of `perf` in
//! the program without probes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use transparency::fetch;
use transparency::programs::calls::Names;
use transparency::programs::process::{run, run_with_report};
use transparency::programs::profile::{self, Callers, Samples};
use transparency::programs::{Form, PROGRAMS, build as build_form};

use crate::report::{self, Report};
use crate::{Row, between};

/// How long the program works in a run, in ns.
const WORK: f64 = 1e9;
/// Rows with a smaller share are left out: their samples are few.
const LEAST: f64 = 0.01;

/// The executables of a program.
pub(crate) struct Light {
    pub(crate) name: &'static str,
    light: PathBuf,
    not_inlined: PathBuf,
}

/// Builds those programs whose names are wanted.
pub(crate) fn build(scratch: &Path, is_wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Light>> {
    let programs = PROGRAMS.iter().filter(|program| is_wanted(program.name));
    let forms = programs.map(|program| {
        let (_, source) = fetch::newest(program.name, scratch)?;
        let form = |form| Ok::<_, io::Error>(build_form(program, &source, scratch, form)?.0);
        Ok(Light {
            name: program.name,
            light: form(Form::Light)?,
            not_inlined: form(Form::NotInlined)?,
        })
    });
    forms.collect()
}

impl Light {
    /// The rows of so many runs.
    pub(crate) fn measure(&self, runs: usize) -> io::Result<Vec<Row>> {
        let turns = (WORK / run(&self.not_inlined, 1)?.took).ceil().max(1.0) as u64;
        let file = self.light.with_extension("json");
        let report = || {
            let mut command = Command::new(&self.light);
            run_with_report(command.arg(turns.to_string()), &file)?;
            Report::read(&file)
        };
        let samples = || profile::record(&self.not_inlined, turns);
        let pairs = (0..runs).map(|_| between::measure(samples, report, all));
        let pairs = pairs.collect::<io::Result<Vec<_>>>()?;
        let mut names = Names::default();
        let mut add = |row: &Value| {
            let module = row["module"].as_str().unwrap_or_default();
            names.add(module, report::name(row))
        };
        let named: Vec<Vec<String>> = pairs
            .iter()
            .map(|(report, _)| report.callsites().map(&mut add).collect())
            .collect();
        let callers = Callers::record(&self.not_inlined, turns, &names)?;
        let mut rows = Vec::new();
        for ((report, samples), row_names) in pairs.iter().zip(named) {
            let samples = samples.each_ref().map(|one| callers.by_row(one, &names));
            let all: f64 = samples.iter().map(all).sum();
            for (row, name) in report.callsites().zip(row_names) {
                let of_row = samples.iter().filter_map(|one| one.get(&name));
                let share = of_row.sum::<f64>() / all;
                if share >= LEAST {
                    rows.extend(report.row(name, row, share * report.own()));
                }
            }
        }
        Ok(rows)
    }
}

/// All samples: with so many turns, the program's CPU time.
fn all(samples: &Samples) -> f64 {
    samples.values().sum()
}
