//! Who takes part.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One contestant: the name of its executable, and how the tables call it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) kind: Kind,
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
    entry("bare", "bare", Pair),
    entry("pair_standard", "standard pair (the floor)", Pair),
    entry("pair_lean", "`lfence` pair", Pair),
    entry("pair_bare", "`rdtsc` pair", Pair),
    entry("pair_std", "std `Instant` pair", Pair),
    entry("pair_quanta", "quanta pair", Pair),
    entry("pair_minstant", "minstant pair", Pair),
    entry("pair_fastant", "fastant pair", Pair),
    entry("cycles_lfence", "**cycles**, default fence", Ours),
    entry("cycles_none", "**cycles**, `none`", Ours),
    entry("cycles_rdtscp", "**cycles**, `rdtscp`", Ours),
    entry("cycles_mfence", "**cycles**, `mfence`", Ours),
    entry("cycles_serialize", "**cycles**, `serialize`", Ours),
    entry("cycles_cpuid", "**cycles**, `cpuid`", Slow),
    entry("fetch_add", "two `fetch_add`", Hand),
    entry("mutex", "a `Mutex` for each callsite", Hand),
    entry("hotpath", "hotpath", Peer),
    entry("time_graph", "time-graph", Peer),
    entry("tsc_trace", "tsc-trace", Peer),
    entry("coarse_prof", "coarse-prof", Peer),
    entry("fastrace", "fastrace", Peer),
    entry("tracing_timing", "tracing + tracing-timing", Peer),
    entry("puffin", "puffin", Peer),
    entry("profiling", "profiling, over puffin", Peer),
    entry("tracy", "tracy-client, no server", Peer),
];

const fn entry(name: &'static str, label: &'static str, kind: Kind) -> Contestant {
    Contestant { name, label, kind }
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

/// Builds all executables; those of the wanted names that could be built.
pub(crate) fn built(names: &[String]) -> Vec<Contestant> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args([
            "build",
            "--release",
            "--locked",
            "--bins",
            "--keep-going",
            "--quiet",
            "--manifest-path",
        ])
        .arg(manifest)
        .stdout(Stdio::null())
        .status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("peers: not every contestant could be built, see above");
    }
    let wanted = |contestant: &Contestant| {
        names.is_empty() || names.iter().any(|name| name == contestant.name)
    };
    let (built, missing): (Vec<_>, Vec<_>) = ROSTER
        .into_iter()
        .filter(wanted)
        .partition(|one| one.executable().exists());
    for contestant in missing {
        eprintln!(
            "peers: {} is left out, for it does not build here",
            contestant.name
        );
    }
    built
}
