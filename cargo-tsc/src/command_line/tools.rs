//! The options of the verbs that neither measure nor compare.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

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
    /// Folded stacks, for inferno, flamegraph.pl and speedscope; counts are self ticks, scaled down to a million in all; needs the call tree
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
    /// Bencher's metric format: each function's self time in a run (self-ticks) and per call (latency, in ns)
    Bmf,
    /// customSmallerIsBetter of github-action-benchmark
    GithubBenchmark,
    /// One JSON object per row, for DuckDB, ClickHouse and pandas
    Jsonl,
}

/// The options of `annotate`. Without one, it says what `--write` would do.
#[derive(Args, Clone, Debug)]
pub struct AnnotateArgs {
    /// Add the attribute to every function that is worth measuring
    #[arg(long, conflicts_with = "strip")]
    pub write: bool,
    /// Remove the attributes that --write has added, so that every file is as before
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

/// The options of `completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// The options of `man`.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// The folder for the pages of all verbs [default: print the first page]
    pub folder: Option<PathBuf>,
}
