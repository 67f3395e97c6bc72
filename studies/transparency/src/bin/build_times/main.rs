//! How long `cargo tsc run --all` takes on other programs, compared with building them: from nothing, and a second time.
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin build_times [PROGRAM…]` fetches the newest version of each
//! program, and builds it and runs it with all functions annotated, one after the other, each in a new target folder, three times in turns.
//! It prints the medians. What the program itself does takes no time worth mentioning.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs, io};

use transparency::programs::statistics::median;
use transparency::{cargo, fetch, project};

const TURNS: usize = 3;

/// Programs and the arguments with which they are run.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("jaq", &["-n", "[range(100000)] | add"]),
    ("tokei", &["."]),
    ("hexyl", &["Cargo.toml"]),
    ("ripgrep", &["-c", "fn", "."]),
];

fn main() -> io::Result<()> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let known = PROGRAMS.map(|(name, _)| name);
    if let Some(unknown) = wanted.iter().find(|one| !known.contains(&one.as_str())) {
        let said = format!("{unknown} is none of {}", known.join(", "));
        return Err(io::Error::other(said));
    }
    let scratch = cargo::scratch("build_times")?;
    let tool = cargo::install(&scratch)?;
    println!("| program | `cargo build`, s | `run --all` | the second time |\n|---|---|---|---|");
    for (name, arguments) in PROGRAMS {
        if !wanted.is_empty() && !wanted.iter().any(|one| one == name) {
            continue;
        }
        let (version, source) = fetch::newest(name, &scratch)?;
        let mut turns: [Vec<f64>; 3] = Default::default();
        for _ in 0..TURNS {
            for (all, one) in turns
                .iter_mut()
                .zip(turn(&source, &scratch, &tool, arguments)?)
            {
                all.push(one);
            }
        }
        let [bare, first, second] = turns.map(median);
        let [first, second] =
            [first, second].map(|time| format!("{time:.1} s, {:.2} ×", time / bare));
        println!("| {name} {version} | {bare:.1} | {first} | {second} |");
    }
    Ok(())
}

/// The seconds that `cargo build` takes, and `run --all` twice.
fn turn(source: &Path, scratch: &Path, tool: &Path, arguments: &[&str]) -> io::Result<[f64; 3]> {
    let copy = scratch.join("copy");
    project::copy_alone(source, &copy)?;
    // Not measured: all versions are those of the lock file, and fetched.
    ended(Command::new("cargo").arg("fetch").current_dir(&copy))?;
    let bare = ended(
        Command::new("cargo")
            .args(["build", "--release"])
            .current_dir(&copy),
    )?;
    fs::remove_dir_all(copy.join("target"))?;
    let run = || {
        let mut command = Command::new(tool);
        command.current_dir(&copy);
        command.args(["tsc", "run", "--all", "--release", "--"]);
        ended(command.args(arguments))
    };
    Ok([bare, run()?, run()?])
}

/// The seconds that a command takes.
fn ended(command: &mut Command) -> io::Result<f64> {
    let began = Instant::now();
    let output = command
        .env_remove("CARGO_TARGET_DIR")
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(began.elapsed().as_secs_f64());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{command:?}: {said}")))
}
