//! The machine and the versions of the measurement.

use std::fs;
use std::process::Command;

pub(crate) fn print() {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(": "))
            .map_or("?", |(_, value)| value)
    };
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let guest = if field("flags").split(' ').any(|flag| flag == "hypervisor") {
        ", a virtual machine"
    } else {
        ""
    };
    println!(
        "{} (family {}, model {}, stepping {}), {cpus} CPUs{guest}; Linux {}; {}; load {}.\n",
        field("model name"),
        field("cpu family"),
        field("model\t"),
        field("stepping"),
        first_word("/proc/sys/kernel/osrelease"),
        rustc(),
        first_word("/proc/loadavg"),
    );
    println!("{}.\n", versions().join(", "));
}

fn first_word(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_owned()
}

fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output();
    output.map_or_else(
        |_| "rustc ?".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

const SHOWN: [&str; 15] = [
    "tsc-runtime",
    "hotpath",
    "time-graph",
    "tsc-trace",
    "coarse-prof",
    "fastrace",
    "tracing",
    "tracing-timing",
    "puffin",
    "profiling",
    "tracy-client",
    "quanta",
    "minstant",
    "fastant",
    "parking_lot",
];

fn versions() -> Vec<String> {
    SHOWN
        .iter()
        .map(|name| format!("{name} {}", version(name)))
        .collect()
}

/// As the lock file has it; of several, the newest, which is the one asked for.
pub(crate) fn version(name: &str) -> &'static str {
    let lock = include_str!("../../../Cargo.lock");
    let marker = format!("name = \"{name}\"\nversion = \"");
    lock.split(&marker)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .last()
        .unwrap_or("?")
}
