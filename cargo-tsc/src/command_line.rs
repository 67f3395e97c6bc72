//! The verbs and their options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use regex::Regex;
use tsc_report::{TextSort, TextUnit};

/// The command line as cargo passes it: `cargo-tsc tsc VERB …`. If the program is started by its own name, `tsc` may be left out.
#[derive(Debug, Parser)]
#[command(
    name = "cargo tsc",
    bin_name = "cargo tsc",
    version,
    about = "Where a program's TSC ticks go, and whether a change helped",
    after_help = "Exit status: 0 fine, 1 regression, 2 usage or input/output, 3 cannot be judged; `run` passes on the program's own."
)]
pub struct CommandLine {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
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
    /// Compare like diff, and exit with 1 if something became slower
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
    /// Add #[cycles] to every function of a project, or remove it again
    Annotate(AnnotateArgs),
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
    /// `run`, `test` or `bench` with arguments for cargo, or a program with its arguments [default: run]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// How a report is printed.
#[derive(Args, Clone, Debug)]
pub struct View {
    /// Order of the rows
    #[arg(long, default_value = "self", value_parser = one_of(&TextSort::NAMES))]
    pub sort: TextSort,
    /// Print at most this many rows
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub top: usize,
    /// Print only rows whose module::name matches
    #[arg(long, value_name = "REGEX")]
    pub filter: Option<Regex>,
    /// Unit of the figures; cycles are core cycles, at the core clock's rate while the program ran
    #[arg(long, default_value = "ticks", value_parser = one_of(&TextUnit::NAMES))]
    pub unit: TextUnit,
    /// Print a histogram of each row's samples
    #[arg(long)]
    pub histogram: bool,
    /// Print every column, how net ticks follow from raw ones, and every reason for doubt
    #[arg(long, conflicts_with = "histogram")]
    pub full: bool,
    /// Print each function's slowest calls below its row, with their callers
    #[arg(long)]
    pub slowest: bool,
    /// JSON instead of a table
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// The text as a block of Markdown
    #[arg(long)]
    pub markdown: bool,
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
    /// Write one self-contained HTML page instead, with call tree, rows and histograms
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Colour the page by what changed since this session, folder or file
    #[arg(long, value_name = "BEFORE", requires = "html")]
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
}

/// How two sides are compared.
#[derive(Args, Clone, Debug)]
pub struct Judgement {
    /// The metric that is compared
    #[arg(long, value_enum)]
    pub metric: Option<Metric>,
    /// Changes up to this do not count; written as 2% or 0.02 [default: 1%]
    #[arg(long, value_parser = crate::diff::share)]
    pub threshold: Option<f64>,
    /// Rows with a smaller share of the time on the CPU are not judged [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = crate::diff::share)]
    pub min_share: Option<f64>,
    /// Exit with 0 if the comparison cannot be judged
    #[arg(long)]
    pub lenient: bool,
    /// With one run per side, judge by the spread of its calls
    #[arg(long)]
    pub within_runs: bool,
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
    /// The session, folder or file to compare with
    #[arg(long, value_name = "A")]
    pub baseline: PathBuf,
    /// The session, folder or file that is judged [default: the newest session]
    pub after: Option<PathBuf>,
    /// Thresholds and exceptions by function
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How they are compared; these options override the policy
    #[command(flatten)]
    pub judgement: Judgement,
}

/// The options of `ab`.
#[derive(Args, Clone, Debug)]
pub struct AbArgs {
    /// The revision before; a dot is the working tree
    #[arg(value_name = "REV1")]
    pub before: String,
    /// The revision after; a dot is the working tree
    #[arg(value_name = "REV2")]
    pub after: String,
    /// Run each this many times
    #[arg(short = 'n', long = "runs", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Save the reports as target/tsc/NAME-before and NAME-after [default: ab]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How they are compared
    #[command(flatten)]
    pub judgement: Judgement,
    /// `run`, `test` or `bench` with arguments for cargo [default: run]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// The options of `list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// The options of `merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// Sessions, folders or files
    #[arg(required = true)]
    pub sessions: Vec<PathBuf>,
    /// The file for the sum [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Has no effect, because the sum is always JSON
    #[arg(long)]
    pub json: bool,
}

/// The options of `export`.
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// A session, a folder or a file [default: the newest session]
    pub session: Option<PathBuf>,
    /// The format
    #[arg(long, value_enum, required_unless_present = "json")]
    pub format: Option<Format>,
    /// The report's own JSON; all runs are added
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Folded stacks, for inferno, flamegraph.pl and speedscope; needs the call tree
    Folded,
    /// profile.proto, for `go tool pprof`, speedscope and Perfetto; needs the call tree
    Pprof,
    /// The slowest calls as a timeline, for ui.perfetto.dev and trace_processor
    Perfetto,
    /// For KCachegrind and callgrind_annotate; needs the call tree
    Callgrind,
    /// OpenMetrics text, as Prometheus scrapes it
    Openmetrics,
    /// Prometheus' older text, for node_exporter's textfile collector and promtool
    Prometheus,
    /// Bencher's metric format
    Bmf,
    /// customSmallerIsBetter of github-action-benchmark
    GithubBenchmark,
    /// One JSON object per row, for DuckDB, ClickHouse and pandas
    Jsonl,
}

/// The options of `annotate`.
#[derive(Args, Clone, Debug)]
pub struct AnnotateArgs {
    /// Add the attribute to every function that is worth measuring
    #[arg(long, required_unless_present = "strip", conflicts_with = "strip")]
    pub write: bool,
    /// Remove those attributes, so that every file is as before
    #[arg(long)]
    pub strip: bool,
    /// The Cargo.toml of the project
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// The options of `doctor`.
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// The options of `top`.
#[derive(Args, Clone, Debug)]
pub struct TopArgs {
    /// The number of the process
    #[arg(value_name = "PID")]
    pub pid: u32,
    /// Print the latest report once, as JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod page;
