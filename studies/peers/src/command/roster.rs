//! The list of contestants.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One contestant: the name of its executable, and how the tables call it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) kind: Kind,
    /// The features of this package that its executable wants: the crates it uses.
    needs: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The functions as written, or two reads of a clock: nothing is recorded.
    Pair,
    /// This crate.
    Ours,
    /// This crate where every call takes some ten thousand times as long as others' do: fewer calls.
    Slow,
    /// Written by hand.
    Hand,
    Peer,
}

use Kind::{Hand, Ours, Pair, Peer, Slow};

const ROSTER: [Contestant; 25] = [
    entry("bare", "bare", Pair, ""),
    entry("pair_standard", "standard pair (the floor)", Pair, ""),
    entry("pair_lean", "`lfence` pair", Pair, ""),
    entry("pair_bare", "`rdtsc` pair", Pair, ""),
    entry("pair_std", "std `Instant` pair", Pair, ""),
    entry("pair_quanta", "quanta pair", Pair, "quanta"),
    entry("pair_minstant", "minstant pair", Pair, "minstant"),
    entry("pair_fastant", "fastant pair", Pair, "fastant"),
    ours("cycles_lfence", "**cycles**, default fence"),
    ours("cycles_none", "**cycles**, `none`"),
    ours("cycles_rdtscp", "**cycles**, `rdtscp`"),
    ours("cycles_mfence", "**cycles**, `mfence`"),
    ours("cycles_serialize", "**cycles**, `serialize`"),
    entry("cycles_cpuid", "**cycles**, `cpuid`", Slow, "tsc-runtime"),
    entry("fetch_add", "two `fetch_add`", Hand, ""),
    entry("mutex", "a `Mutex` for each callsite", Hand, "parking_lot"),
    entry("hotpath", "hotpath", Peer, "hotpath,serde_json"),
    entry("time_graph", "time-graph", Peer, "time-graph"),
    entry("tsc_trace", "tsc-trace", Peer, "tsc-trace"),
    entry("coarse_prof", "coarse-prof", Peer, "coarse-prof"),
    entry("fastrace", "fastrace", Peer, "fastrace"),
    entry(
        "tracing_timing",
        "tracing + tracing-timing",
        Peer,
        "tracing,tracing-subscriber,tracing-timing",
    ),
    entry("puffin", "puffin", Peer, "puffin"),
    entry(
        "profiling",
        "profiling, over puffin",
        Peer,
        "profiling,puffin",
    ),
    entry("tracy", "tracy-client, no server", Peer, "tracy-client"),
];

const fn entry(
    name: &'static str,
    label: &'static str,
    kind: Kind,
    needs: &'static str,
) -> Contestant {
    Contestant {
        name,
        label,
        kind,
        needs,
    }
}

const fn ours(name: &'static str, label: &'static str) -> Contestant {
    entry(name, label, Ours, "tsc-runtime")
}

impl Contestant {
    pub(crate) fn executable(&self) -> PathBuf {
        let this = env::current_exe().expect("this program has a path");
        this.with_file_name(self.name)
    }

    /// Calls in a stretch.
    pub(crate) fn stretch(&self) -> &'static str {
        if self.kind == Slow { "10" } else { "1000" }
    }
}

/// A contestant, and why it does not build here, if it does not.
pub(crate) type Entrant = (Contestant, Result<(), String>);

/// Builds the contestants of these names, or all.
pub(crate) fn built(names: &[String]) -> Vec<Entrant> {
    let wanted: Vec<_> = ROSTER
        .into_iter()
        .filter(|one| names.is_empty() || names.iter().any(|name| name == one.name))
        .collect();
    let bins: Vec<_> = wanted.iter().flat_map(|one| ["--bin", one.name]).collect();
    if build(&[&["--all-features"], bins.as_slice()].concat()).is_ok() {
        return wanted.into_iter().map(|one| (one, Ok(()))).collect();
    }
    // One of them, or a crate of one of them. Each alone, with its own crates, tells which.
    let alone = |one: Contestant| (one, build(&["--features", one.needs, "--bin", one.name]));
    wanted.into_iter().map(alone).collect()
}

/// The first error is the reason.
fn build(arguments: &[&str]) -> Result<(), String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(cargo())
        .args(["build", "--release", "--locked", "--quiet"])
        .args(arguments)
        .arg("--manifest-path")
        .arg(manifest)
        .stdout(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    output
        .status
        .success()
        .then_some(())
        .ok_or_else(|| first_error(&errors))
}

pub(crate) fn cargo() -> std::ffi::OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// In a form that fits into a table.
pub(crate) fn first_error(errors: &str) -> String {
    let first = errors.lines().find(|line| line.starts_with("error"));
    first.unwrap_or("cargo failed").replace('|', "\\|")
}
