//! The verbs and their options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use regex::Regex;

/// As cargo starts it: `cargo-tsc tsc VERB …`. Started by its own name, `tsc` may be left out.
#[derive(Debug, Parser)]
#[command(
    name = "cargo tsc",
    bin_name = "cargo tsc",
    version,
    about = "Where a program's TSC ticks go, and whether a change helped",
    after_help = "Exit status: 0 fine, 1 regression, 2 usage or input/output, 3 cannot be judged; `run` passes on the program's own."
)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Build with measurement on, run, keep the reports, print them
    Run(RunArgs),
    /// Print what was saved
    Report(ReportArgs),
    /// What changed from A to B
    Diff(DiffArgs),
    /// A diff as an exit status: 1 if something became slower
    Gate(GateArgs),
    /// Measure two revisions in turns, and compare them
    Ab(AbArgs),
    /// List the saved sessions
    List(ListArgs),
    /// Add up the reports of many processes or hosts
    Merge(MergeArgs),
    /// Write a report in another program's format
    Export(ExportArgs),
    /// Say whether ticks that are counted on this machine can be believed
    Doctor(DoctorArgs),
    /// Show what a running program spends its ticks on; q quits
    Top(TopArgs),
    /// Put #[cycles] on every function of a project, or take it away again
    Annotate(AnnotateArgs),
}

/// What `run` takes.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Run so many times; each run is kept
    #[arg(short = 'n', long = "runs", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Measure every function: a copy of the project is annotated and built, yours is left alone
    #[arg(long)]
    pub all: bool,
    /// Measure only functions whose module::name matches
    #[arg(long, value_name = "REGEX")]
    pub only: Option<Regex>,
    /// Record the call tree
    #[arg(long)]
    pub tree: bool,
    /// Keep the reports as target/tsc/NAME [default: the time]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// With --all: tsc-runtime's source, instead of the published one
    #[arg(long, value_name = "DIR", env = "CARGO_TSC_RUNTIME")]
    pub runtime: Option<PathBuf>,
    /// How to print the report
    #[command(flatten)]
    pub view: View,
    /// `run`, `test` or `bench` and their arguments as cargo takes them, or a program and its arguments [default: run]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// How a report is printed.
#[derive(Args, Clone, Debug)]
pub struct View {
    /// Order of the rows
    #[arg(long, value_enum, default_value_t = Sort::SelfTime)]
    pub sort: Sort,
    /// Print so many rows
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub top: usize,
    /// Print the rows whose module::name matches
    #[arg(long, value_name = "REGEX")]
    pub filter: Option<Regex>,
    /// Unit of the figures: cycles are core cycles, at their rate while the program ran
    #[arg(long, value_enum, default_value_t = Unit::Ticks)]
    pub unit: Unit,
    /// Print each row's samples by their length
    #[arg(long)]
    pub histogram: bool,
    /// Print each thread's part of each row (recorded with TSC_THREADS=1)
    #[arg(long)]
    pub threads: bool,
    /// JSON instead of a table
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Markdown instead of a table
    #[arg(long)]
    pub markdown: bool,
}

/// Order of a report's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Time on the CPU outside annotated callees
    #[value(name = "self")]
    SelfTime,
    /// Time with callees
    Total,
    /// Number of calls
    Calls,
    /// Mean of a call
    Mean,
    /// 99th percentile of a call
    P99,
    /// The longest call
    Max,
    /// The row's name
    Name,
}

/// Unit of a report's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Of the time-stamp counter
    Ticks,
    /// Nanoseconds
    Ns,
    /// Core cycles
    Cycles,
}

/// What `report` takes.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// A session, a folder or a file [default: the newest session]
    pub session: Option<PathBuf>,
    /// Write one self-contained page instead: call tree, rows, histograms
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Colour the page by what changed since this session, folder or file
    #[arg(long, value_name = "BEFORE", requires = "html")]
    pub since: Option<PathBuf>,
    /// How to print it
    #[command(flatten)]
    pub view: View,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// Time on the CPU outside annotated callees, in all calls of a run
    #[value(name = "self")]
    SelfTime,
    /// The same for one call
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
    /// What is compared
    #[arg(long, value_enum)]
    pub metric: Option<Metric>,
    /// Changes up to this are none, such as 2% or 0.02 [default: 1%]
    #[arg(long, value_parser = crate::diff::share)]
    pub threshold: Option<f64>,
    /// Rows with less than this share of the time on the CPU are not judged [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = crate::diff::share)]
    pub min_share: Option<f64>,
    /// What cannot be judged is fine
    #[arg(long)]
    pub lenient: bool,
    /// Judge one run a side by the spread of its calls
    #[arg(long)]
    pub within_runs: bool,
    /// JSON instead of a table
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Markdown, for a pull request
    #[arg(long)]
    pub markdown: bool,
}

/// What `diff` takes.
#[derive(Args, Clone, Debug)]
pub struct DiffArgs {
    /// The session, folder or file before
    pub before: PathBuf,
    /// The one after [default: the newest session]
    pub after: Option<PathBuf>,
    /// How they are compared
    #[command(flatten)]
    pub judgement: Judgement,
}

/// What `gate` takes.
#[derive(Args, Clone, Debug)]
pub struct GateArgs {
    /// The session, folder or file to compare with
    #[arg(long, value_name = "A")]
    pub baseline: PathBuf,
    /// What is compared [default: the newest session]
    pub after: Option<PathBuf>,
    /// Thresholds and exceptions by function
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How they are compared; stronger than the policy
    #[command(flatten)]
    pub judgement: Judgement,
}

/// What `ab` takes.
#[derive(Args, Clone, Debug)]
pub struct AbArgs {
    /// The revision before; a dot is the working tree as it is
    #[arg(value_name = "REV1")]
    pub before: String,
    /// The revision after; a dot is the working tree as it is
    #[arg(value_name = "REV2")]
    pub after: String,
    /// Run each so many times
    #[arg(short = 'n', long = "runs", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Keep the reports as target/tsc/NAME-before and NAME-after [default: ab]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// How they are compared
    #[command(flatten)]
    pub judgement: Judgement,
    /// `run`, `test` or `bench` and their arguments as cargo takes them [default: run]
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// What `list` takes.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// What `merge` takes.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// Sessions, folders or files
    #[arg(required = true)]
    pub sessions: Vec<PathBuf>,
    /// Where the sum goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The sum is JSON in any case
    #[arg(long)]
    pub json: bool,
}

/// What `export` takes.
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// A session, a folder or a file [default: the newest session]
    pub session: Option<PathBuf>,
    /// The format
    #[arg(long, value_enum, required_unless_present = "json")]
    pub format: Option<Format>,
    /// The report's own JSON, all runs added up
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Where it goes [default: standard output]
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
    /// A JSON object a row, for DuckDB, ClickHouse and pandas
    Jsonl,
}

/// What `annotate` takes.
#[derive(Args, Clone, Debug)]
pub struct AnnotateArgs {
    /// Put the attribute on every function that is worth it
    #[arg(long, required_unless_present = "strip", conflicts_with = "strip")]
    pub write: bool,
    /// Take those attributes away: every file has the bytes it had
    #[arg(long)]
    pub strip: bool,
    /// The project
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// What `doctor` takes.
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// What `top` takes.
#[derive(Args, Clone, Debug)]
pub struct TopArgs {
    /// The process
    #[arg(value_name = "PID")]
    pub pid: u32,
    /// The latest report as JSON, once
    #[arg(long)]
    pub json: bool,
}
