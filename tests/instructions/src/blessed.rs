//! The committed figures.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::parts::Figure;

const HEAD: &str = "# Written by `cargo run --release --manifest-path tests/instructions/Cargo.toml -- --bless`. Instructions, by rustc:";

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("blessed.txt")
}

pub(crate) fn write(figures: &[Figure]) -> Result<(), String> {
    let lines: String = figures
        .iter()
        .map(|figure| format!("{}: {:.1}\n", figure.name, figure.instructions))
        .collect();
    print!("{lines}");
    fs::write(path(), format!("{HEAD} {}\n{lines}", rustc()))
        .map_err(|error| format!("{}: {error}", path().display()))
}

/// Prints all, and fails if one is above its margin.
pub(crate) fn compare(figures: &[Figure]) -> Result<(), String> {
    let text =
        fs::read_to_string(path()).map_err(|error| format!("{}: {error}", path().display()))?;
    let mut slower = Vec::new();
    let mut faster = false;
    println!("| instructions | now | blessed | |");
    println!("|---|---|---|---|");
    for &Figure {
        name,
        instructions,
        margin,
    } in figures
    {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let blessed: f64 = line
            .and_then(|line| line.parse().ok())
            .ok_or_else(|| format!("blessed.txt has no \"{name}\""))?;
        let change = instructions / blessed - 1.0;
        println!(
            "| {name} | {instructions:.1} | {blessed:.1} | {:+.1} % |",
            change * 100.0
        );
        faster |= change < -margin;
        if change > margin {
            slower.push(format!("{name}: {instructions:.1} instructions, {blessed:.1} were blessed and {:.0} % more are allowed", margin * 100.0));
        }
    }
    if slower.is_empty() {
        if faster {
            println!("\nFaster than blessed: bless it, so that it stays so (`-- --bless`).");
        }
        return Ok(());
    }
    let by = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix(HEAD))
        .map_or("?", str::trim);
    let compiler = if by == rustc() {
        String::new()
    } else {
        format!("\nThe blessed figures are of {by}; this is {}.", rustc())
    };
    Err(format!(
        "slower than blessed\n{}{compiler}\nIf that is meant: cargo run --release --manifest-path tests/instructions/Cargo.toml -- --bless",
        slower.join("\n"),
    ))
}

fn rustc() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    output.map_or_else(
        |_| "an unknown rustc".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
