//! Measures what annotations cost in code and in build time: `cargo run --release --manifest-path studies/overhead/Cargo.toml --bin
//! build_cost`.
//!
//! In a temporary folder, it builds a crate of 500 functions with and without the attribute, in turns, and crates of one annotated
//! function without any built dependencies. It prints a Markdown table.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const FUNCTIONS: usize = 500;
const ROUNDS: usize = 5;

fn main() -> io::Result<()> {
    let folder = std::env::temp_dir().join(format!("build-cost-{}", std::process::id()));
    let result = run(&folder);
    fs::remove_dir_all(&folder)?;
    result
}

fn run(folder: &Path) -> io::Result<()> {
    let attribute = "#[tsc_runtime::cycles]";
    let bare = Crate::write(folder, "bare", FUNCTIONS, "", "release-builds")?;
    let annotated = Crate::write(folder, "annotated", FUNCTIONS, attribute, "release-builds")?;
    let single = Crate::write(folder, "single", 1, attribute, "release-builds")?;
    let single_bare = Crate::write(folder, "single_bare", 1, "", "release-builds")?;
    let unmeasured = Crate::write(folder, "unmeasured", 1, attribute, "default")?;
    let clean = single.build()?;
    let clean_unmeasured = unmeasured.build()?;
    for of in [&bare, &annotated, &single_bare] {
        of.build()?;
    }
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let without = bare.rebuild()?.as_secs_f64();
        let with = annotated.rebuild()?.as_secs_f64();
        eprintln!("bare {without:.2} s, annotated {with:.2} s");
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    // Both are differences, so they do not contain the parts that a binary has only once: std and the runtime.
    let code = |many: &Crate, one: &Crate| {
        Ok::<_, io::Error>((many.text_size()? - one.text_size()?) as f64 / (FUNCTIONS - 1) as f64)
    };
    let added = code(&annotated, &single)? - code(&bare, &single_bare)?;
    println!("| what | value |\n|---|---|");
    println!("| code (.text) added per annotated function, bytes | {added:.0} |");
    println!(
        "| release build of {FUNCTIONS} annotated functions ÷ of {FUNCTIONS} bare ones, median of {ROUNDS} | {:.2} |",
        ratios[ROUNDS / 2]
    );
    println!(
        "| crates in the dependency tree, the runtime included | {} |",
        single.dependencies()?
    );
    println!(
        "| release build of one annotated function from nothing, s | {:.1} |",
        clean.as_secs_f64()
    );
    println!(
        "| the same without `release-builds`, so that nothing is measured, s | {:.1} |",
        clean_unmeasured.as_secs_f64()
    );
    Ok(())
}

struct Crate {
    folder: PathBuf,
    name: &'static str,
}

impl Crate {
    fn write(
        parent: &Path,
        name: &'static str,
        functions: usize,
        attribute: &str,
        feature: &str,
    ) -> io::Result<Self> {
        let folder = parent.join(name);
        fs::create_dir_all(folder.join("src"))?;
        let runtime = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tsc-runtime");
        fs::write(
            folder.join("Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
                 tsc-runtime = {{ path = {runtime:?}, features = [{feature:?}] }}\n"
            ),
        )?;
        fs::write(folder.join("src/main.rs"), source(functions, attribute))?;
        Ok(Self { folder, name })
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.arg(command).current_dir(&self.folder);
        // The builds must not share anything with this program's own.
        cargo.env("CARGO_TARGET_DIR", self.folder.join("target"));
        cargo
    }

    fn build(&self) -> io::Result<Duration> {
        let began = Instant::now();
        let status = self
            .cargo("build")
            .args(["--quiet", "--release"])
            .status()?;
        if !status.success() {
            return Err(io::Error::other(format!(
                "building {} ended with {status}",
                self.name
            )));
        }
        Ok(began.elapsed())
    }

    /// Builds only the crate itself again. Its dependencies are already built.
    fn rebuild(&self) -> io::Result<Duration> {
        let main = self.folder.join("src/main.rs");
        fs::write(&main, fs::read(&main)?)?;
        self.build()
    }

    fn text_size(&self) -> io::Result<u64> {
        let elf = fs::read(self.folder.join("target/release").join(self.name))?;
        text_size(&elf).ok_or_else(|| {
            io::Error::other("not a 64-bit little-endian ELF file with a .text section")
        })
    }

    fn dependencies(&self) -> io::Result<usize> {
        let tree = self
            .cargo("tree")
            .args(["--prefix", "none", "--edges", "normal,build"])
            .output()?;
        let tree = String::from_utf8_lossy(&tree.stdout);
        let mut crates: Vec<_> = tree
            .lines()
            .skip(1)
            .filter_map(|line| line.split(' ').next())
            .collect();
        crates.sort_unstable();
        crates.dedup();
        Ok(crates.len())
    }
}

/// Functions of a few instructions and a loop each. All are different, and all are called.
fn source(functions: usize, attribute: &str) -> String {
    let mut source = String::new();
    let mut calls = String::new();
    for index in 0..functions {
        let _ = write!(
            source,
            "{attribute}\n#[inline(never)]\nfn f{index}(seed: u64, bytes: &[u8]) -> u64 {{\n    \
             bytes.iter().fold(seed ^ {index}, |sum, byte| sum.rotate_left({}) ^ u64::from(*byte))\n}}\n",
            index % 63 + 1
        );
        let _ = writeln!(calls, "    sum ^= f{index}(sum, bytes);");
    }
    format!(
        "{source}fn main() {{\n    let bytes = std::hint::black_box(&b\"bytes\"[..]);\n    let mut sum = 1;\n{calls}    println!(\"{{sum}}\");\n}}\n"
    )
}

/// The size of the section `.text`, by the ELF header's word.
fn text_size(elf: &[u8]) -> Option<u64> {
    let half = |at: usize| {
        Some(usize::from(u16::from_le_bytes(
            elf.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    let word = |at: usize| Some(u32::from_le_bytes(elf.get(at..at + 4)?.try_into().ok()?) as usize);
    let long = |at: usize| Some(u64::from_le_bytes(elf.get(at..at + 8)?.try_into().ok()?));
    let headers = long(0x28)? as usize;
    let (size, count, names) = (half(0x3a)?, half(0x3c)?, half(0x3e)?);
    let header = |index: usize| headers + index * size;
    let names = long(header(names) + 0x18)? as usize;
    (0..count).map(header).find_map(|header| {
        let name = names + word(header)?;
        (elf.get(name..name + 6)? == b".text\0")
            .then(|| long(header + 0x20))
            .flatten()
    })
}
