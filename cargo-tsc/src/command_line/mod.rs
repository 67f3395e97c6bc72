//! The verbs and their options.

#[cfg(test)]
mod page;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use regex_lite::Regex;
use tsc_report::{TextSort, TextUnit};

use crate::build::CargoOptions;
use crate::progress::Voice;

pub use tools::*;

/// The command line as cargo passes it: `cargo-tsc tsc VERB …`. If the program is started by its own name, `tsc` may be left out.
#[derive(Debug, Parser)]
#[command(
    name = "cargo tsc",
    bin_name = "cargo tsc",
    version,
    about = "Where a program's TSC ticks go, and whether a change helped",
    after_help = "Exit status: 0 fine, 1 regression (of `gate` alone), 2 wrong usage or an error of input or output, 3 the comparison cannot be judged; `run` and `ab` pass on the program's own status, and say so."
)]
pub struct CommandLine {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
    /// What is printed besides results
    #[command(flatten)]
    pub voice: Voice,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Build with measurement, run, save the reports and print them
    Run(RunArgs),
    /// Print a saved session
    Report(ReportArgs),
    /// Show what changed from A to B
    Diff(DiffArgs),
    /// Compare like diff, and exit with 1 if something became slower; times need 4 runs a side
    Gate(GateArgs),
    /// Measure two revisions in turns, and compare them
    Ab(AbArgs),
    /// List the saved sessions
    List(ListArgs),
    /// Add the reports of many processes or hosts
    Merge(MergeArgs),
    /// Write a report in another program's format
    Export(ExportArgs),
    /// Check whether the ticks of this machine can be trusted
    Doctor(DoctorArgs),
    /// Show what a running program spends its ticks on; q quits
    Top(TopArgs),
    /// Add #[cycles] to every function of a project, or remove it again; without an option, say what would be added
    Annotate(AnnotateArgs),
    /// Print the completions of a shell, for `cargo-tsc`
    Completions(CompletionsArgs),
    /// Print the man page, or write those of all verbs
    Man(ManArgs),
}

/// The options of `run`.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Run this many times; every run is saved
    #[arg(short = 'n', long = "runs", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Measure every function: a copy of the project is annotated and built; the project itself does not change
    #[arg(long)]
    pub all: bool,
    /// With --all: measure also the dependencies with these names; * is any text, and '!GLOB' excludes
    #[arg(long, value_name = "GLOB", num_args = 1.., requires = "all", conflicts_with = "with_deps")]
    pub with: Vec<String>,
    /// With --all: measure also all dependencies that compile with the attribute
    #[arg(long, requires = "all")]
    pub with_deps: bool,
    /// Measure only functions whose module::name matches
    #[arg(long, value_name = "REGEX")]
    pub only: Option<Regex>,
    /// Record the call tree
    #[arg(long)]
    pub tree: bool,
    /// Record each thread's part of each row
    #[arg(long)]
    pub threads: bool,
    /// Save the reports as target/tsc/NAME [default: the time]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// With --all: the folder of tsc-runtime's source [default: beside cargo-tsc's own; without that, the published version]
    #[arg(long, value_name = "DIR", env = "CARGO_TSC_RUNTIME")]
    pub runtime: Option<PathBuf>,
    /// How to print the report
    #[command(flatten)]
    pub view: View,
    /// What to build
    #[command(flatten)]
    pub cargo: CargoOptions,
    /// After a cargo option, the program's arguments; otherwise `run`, `test` or `bench` with cargo's arguments, or a program with its own [default: run]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// How a report is printed.
#[derive(Args, Clone, Debug)]
pub struct View {
    /// Order of the rows
    #[arg(long, default_value = "self", value_parser = one_of(TextSort::NAMES), conflicts_with_all = ["json", "html", "open"])]
    pub sort: TextSort,
    /// Print at most this many rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 30, conflicts_with_all = ["json", "html", "open"])]
    pub top: usize,
    /// Print only rows whose module::name matches
    #[arg(long, value_name = "REGEX", conflicts_with_all = ["json", "html", "open"])]
    pub filter: Option<Regex>,
    /// Unit of the times; cycles are core cycles, at the core clock's rate while the program ran. The first line and the slowest calls are
    /// always in times, and --full in ticks
    #[arg(long, default_value = "time", value_parser = one_of(TextUnit::NAMES), conflicts_with_all = ["json", "html", "open"])]
    pub unit: TextUnit,
    /// Print a histogram of each row's samples
    #[arg(long, conflicts_with_all = ["json", "html", "open"])]
    pub histogram: bool,
    /// Print every column, how net ticks follow from raw ones, and every reason for doubt
    #[arg(long, conflicts_with_all = ["histogram", "json", "html", "open"])]
    pub full: bool,
    /// Print each function's slowest calls below its row, with their callers
    #[arg(long, conflicts_with_all = ["json", "html", "open"])]
    pub slowest: bool,
    /// JSON instead of a table
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// The text as a block of Markdown
    #[arg(long)]
    pub markdown: bool,
    /// Write one self-contained HTML page instead, with call tree, rows and histograms [default: report.html in the session]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "markdown"])]
    pub html: Option<Option<PathBuf>>,
    /// Write the HTML page, and show it in the browser
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    pub open: bool,
}

/// Accepts one of the names.
fn one_of<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(names.iter().map(|(name, _)| *name));
    parser.map(|chosen| {
        let mut all = names.iter();
        let found = all.find(|(name, _)| *name == chosen);
        found.expect("the parser accepts only these").1
    })
}

/// The options of `report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// A session, a folder or a file [default: the newest session]
    pub session: Option<PathBuf>,
    /// Colour the HTML page by what changed since this session, folder or file
    #[arg(long, value_name = "BEFORE")]
    pub since: Option<PathBuf>,
    /// How to print the report
    #[command(flatten)]
    pub view: View,
}

/// The metric that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// Time on the CPU outside annotated callees, in all calls of a run
    #[value(name = "self")]
    SelfTime,
    /// Time on the CPU outside annotated callees, per call
    SelfPerCall,
    /// Time with callees, in all calls of a run
    Total,
    /// Mean of a call
    Mean,
    /// Median of a call
    P50,
    /// 99th percentile of a call
    P99,
    /// Calls of a run, also by path of the call tree; compared exactly
    Calls,
    /// Items of a run, of functions with `items`; compared exactly
    Items,
    /// Bytes of a run, of functions with `bytes`; compared exactly
    Bytes,
}

impl Metric {
    /// Whether this is a count, which is the same in each run of the same code.
    #[must_use]
    pub fn is_count(self) -> bool {
        matches!(self, Self::Calls | Self::Items | Self::Bytes)
    }

    /// Whether this is a time of one call, however many there are.
    #[must_use]
    pub fn is_per_call(self) -> bool {
        matches!(self, Self::SelfPerCall | Self::Mean | Self::P50 | Self::P99)
    }
}

/// How two sides are compared.
#[derive(Args, Clone, Debug)]
pub struct Judgement {
    /// The metric that is compared [default: self]
    #[arg(long, value_enum)]
    pub metric: Option<Metric>,
    /// Smaller changes of times do not count; written as 2% or 0.02 [default: 1%]
    #[arg(long, value_parser = crate::share::share)]
    pub threshold: Option<f64>,
    /// Rows with a smaller share of the time on the CPU are not judged [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = crate::share::share)]
    pub min_share: Option<f64>,
    /// Compare also what is not comparable, such as sessions of two machines, and exit with 0 where the status would be 3
    #[arg(long)]
    pub lenient: bool,
    /// Exit with 3 if the verdict on a row is not resolved, layout or not judged
    #[arg(long, conflicts_with = "lenient")]
    pub fail_unresolved: bool,
    /// JSON instead of a table
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Markdown, for a pull request
    #[arg(long)]
    pub markdown: bool,
}

/// The options of `diff`.
#[derive(Args, Clone, Debug)]
pub struct DiffArgs {
    /// The session, folder or file before
    pub before: PathBuf,
    /// The session, folder or file after [default: the newest session]
    pub after: Option<PathBuf>,
    /// How they are compared
    #[command(flatten)]
    pub judgement: Judgement,
}

/// The options of `gate`.
#[derive(Args, Clone, Debug)]
pub struct GateArgs {
    /// The session, folder or file before; the same as naming it first
    #[arg(long, value_name = "BEFORE")]
    pub baseline: Option<PathBuf>,
    /// The sessions, folders or files before and after [default after: the newest session]
    #[arg(value_name = "SESSION", num_args = 1..=2, required_unless_present = "baseline")]
    pub sessions: Vec<PathBuf>,
    /// Thresholds and exceptions by function [default: the nearest tsc.toml, here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How they are compared; these options override the policy
    #[command(flatten)]
    pub judgement: Judgement,
}

/// The number of orders of functions in which `ab` can link a program.
pub const ORDERS: u32 = 10;

/// The options of `ab`.
#[derive(Args, Clone, Debug)]
pub struct AbArgs {
    /// The revision before; a dot is the working tree
    #[arg(value_name = "REV1")]
    pub before: String,
    /// The revision after; a dot is the working tree
    #[arg(value_name = "REV2")]
    pub after: String,
    /// The number of rounds; each runs REV1, REV2, and REV1 again, to see by how much runs of the same code differ
    #[arg(short = 'n', long = "runs", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Link the functions in this many orders; 1: cargo's own order; 2 and 3: too few for verdicts [default: one a round, at most 10]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=i64::from(ORDERS)))]
    pub links: Option<u32>,
    /// Run both revisions at once, on two CPUs that they swap [default: if two CPUs are idle, and the program keeps at most one busy]
    #[arg(long, overrides_with = "no_duet")]
    pub duet: bool,
    /// Run one revision after the other
    #[arg(long)]
    pub no_duet: bool,
    /// Save the reports as target/tsc/NAME-before and NAME-after [default: ab]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How they are compared
    #[command(flatten)]
    pub judgement: Judgement,
    /// What to build
    #[command(flatten)]
    pub cargo: CargoOptions,
    /// After a cargo option, the program's arguments; otherwise `run`, `test` or `bench` with cargo's arguments [default: run]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
