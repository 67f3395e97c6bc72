//! The programs: crates as published, with a few of their functions measured and one of these slowed down, each in a repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use cargo_tsc::annotate::{Probe, Where, annotate};
use cargo_tsc::statistics::mean;
use serde_json::Value;
use transparency::programs::process::run_with_report;
use transparency::project::{copy_dir, dependency};
use transparency::{cargo, fetch};

use crate::moved;
use crate::sessions::{self, Sessions};

/// A program, and what is measured in it.
pub struct Program {
    pub name: &'static str,
    /// The part that makes the input, and uses the crate.
    main: &'static str,
    /// The functions that a user would annotate after a first look.
    measured: &'static [&'static str],
}

macro_rules! main {
    ($($file:literal),*) => { concat!($(include_str!(concat!("../../programs/texts/", $file))),*) };
}

pub const PROGRAMS: [Program; 6] = [
    Program {
        name: "pulldown-cmark",
        main: main!("pulldown_cmark.rs"),
        measured: &[
            "run",
            "handle_inline_pass1",
            "parse_block",
            "parse_line",
            "parse_paragraph",
            "parse_table",
            "parse_fenced_code_block",
        ],
    },
    Program {
        name: "zopfli",
        main: main!("zopfli.rs", "words.rs"),
        measured: &[
            "greedy",
            "follow_path",
            "get_best_lengths",
            "calculate_block_size",
            "optimize_huffman_for_rle",
            "length_limited_code_lengths",
            "encode_tree_no_output",
            "blocksplit_lz77",
            "add_lz77_block",
            "get_statistics",
        ],
    },
    Program {
        name: "roxmltree",
        main: main!("roxmltree.rs"),
        measured: &[
            "process_attribute",
            "process_element",
            "process_text",
            "process_cdata",
            "resolve_attributes",
            "parse_comment",
        ],
    },
    Program {
        name: "miniz_oxide",
        main: main!("miniz_oxide.rs", "words.rs"),
        measured: &[
            "compress_normal",
            "compress_lz_codes",
            "start_dynamic_block",
            "optimize_table",
            "init_tree",
            "decompress",
        ],
    },
    Program {
        name: "tinyjson",
        main: main!("tinyjson.rs"),
        measured: &[
            "parse_object",
            "parse_array",
            "parse_string",
            "parse_number",
            "quote",
            "number",
            "encode_array",
            "encode_object",
        ],
    },
    Program {
        name: "lzma-rs",
        main: main!("lzma_rs.rs", "words.rs"),
        measured: &[
            "process_next_inner",
            "decode_literal",
            "decode_distance",
            "encode_literal",
            "lzma_compress",
        ],
    },
];

/// The rounds of the chain in the function that is not slowed down. Few, so that its end is predicted.
const USUAL: u64 = 8;
/// More rounds, of which there are enough if the function takes clearly longer with them: by so many times what is planted.
const MANY: u64 = 32;
const CLEARLY: f64 = 3.0;

/// The CPU time of a run, in seconds, that is chosen by how often the program does the same.
const RUN: f64 = 0.15;

/// Slowed down is the function with most of the program's time, among those that call no other measured one and are called at least so often
/// in a run. A short function's own time is the less certain the more probes are in it.
const CALLS: f64 = 1000.0;
/// The file that keeps the name of that function, and what was planted in it.
const SLOWED: &str = "target/slowed.txt";
/// How often each link runs for a calibration.
const PASSES: u32 = 6;

/// The fences of a read of the counter make what follows wait for the chain. Otherwise the two overlap, by how much depends on where the code
/// lies in memory, and more rounds cost from nothing to twice their time.
const IDLE: &str = "
/// The length of the chain of multiplications in the slowed function.
#[doc(hidden)]
pub static IDLE: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(ROUNDS);
#[allow(dead_code)]
pub(crate) fn idle() {
    let mut x = 1_u64;
    for _ in 0..IDLE.load(core::sync::atomic::Ordering::Relaxed) {
        x = x.wrapping_mul(5).rotate_left(7);
    }
    core::hint::black_box(x);
    let _ = <tsc_runtime::tsc::Lfence as tsc_runtime::tsc::FencePolicy>::start();
}
";

/// A repository with the revisions of a program.
pub struct Repository<'a> {
    program: &'a Program,
    pub folder: PathBuf,
    /// The function that is slowed down.
    pub slowed: String,
    /// How much it takes more, on average over the links and in the least and the greatest of them.
    pub planted: String,
}

impl<'a> Repository<'a> {
    /// A repository with the revisions `before` and `slowed`, where the slowed function takes this share of its own time more.
    pub fn make(program: &'a Program, scratch: &Path, tool: &Path, share: f64) -> io::Result<Self> {
        let (_, original) = fetch::newest(program.name, scratch)?;
        let folder = scratch.join(program.name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let mut repository = Self {
            program,
            folder,
            slowed: String::new(),
            planted: String::new(),
        };
        copy_dir(&original, &repository.path("crate"))?;
        let _ = fs::remove_file(repository.path("crate/Cargo.lock"));
        let mut manifest = fs::read_to_string(original.join("Cargo.toml"))?;
        manifest += dependency().split("\n[profile").next().unwrap_or_default();
        fs::write(repository.path("crate/Cargo.toml"), manifest)?;
        repository.annotate(&repository.path("crate/src"))?;
        repository.write_main(1)?;
        repository.set_rounds(USUAL)?;
        fs::write(repository.path(".gitignore"), "target\n")?;
        repository.build()?;
        let turns = (RUN / repository.seconds()?).round().max(1.0);
        repository.write_main(turns as u32)?;
        repository.build()?;
        repository.slowed = repository.choose()?;
        repository.git(&["init", "--quiet"])?;
        repository.commit("before")?;
        // This makes the links.
        Sessions::measure(tool, &repository, "before", 1, ("links", "--no-duet"))?;
        let rounds = repository.calibrate(share)?;
        fs::write(
            repository.path(SLOWED),
            format!("{}\n{}", repository.slowed, repository.planted),
        )?;
        repository.set_rounds(rounds)?;
        repository.commit("slowed")?;
        Ok(repository)
    }

    /// A repository that was made before.
    pub fn kept(program: &'a Program, scratch: &Path) -> io::Result<Self> {
        let folder = scratch.join(program.name);
        let text = fs::read_to_string(folder.join(SLOWED))?;
        let (slowed, planted) = text.split_once('\n').unwrap_or((&text, "?"));
        Ok(Self {
            program,
            folder,
            slowed: slowed.to_owned(),
            planted: planted.to_owned(),
        })
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The program as it is usually linked.
    fn usual_link(&self) -> PathBuf {
        self.path("target/release/program")
    }

    fn build(&self) -> io::Result<()> {
        cargo::build_release(&self.folder, &self.path("target"))
    }

    /// Adds the attribute to the functions that are measured.
    fn annotate(&self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.annotate(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                // Beside serde_json, which compares its values with integers, the type of the latter is not known.
                let source = fs::read_to_string(&path)?
                    .replace("== MIN_MATCH_LEN.into()", "== u32::from(MIN_MATCH_LEN)");
                let annotated = annotate(&source, Where::Functions, &|function| {
                    let is_measured = self.program.measured.contains(&&*function.name);
                    is_measured.then_some(Probe::Timed)
                });
                fs::write(path, annotated.map_err(io::Error::other)?.text)?;
            }
        }
        Ok(())
    }

    /// Chooses the function that is slowed down, and puts the chain at its beginning.
    fn choose(&self) -> io::Result<String> {
        let report = self.run(&self.usual_link(), USUAL)?;
        let rows = report["callsites"].as_array().into_iter().flatten();
        let number = |row: &Value, key: &str| row[key].as_f64().unwrap_or(0.0);
        let of_crate = rows.filter(|row| {
            number(row, "calls") >= CALLS
                && number(row, "nested_overhead_ticks") == 0.0
                && row["file"]
                    .as_str()
                    .is_some_and(|file| file.contains("crate/"))
        });
        let own = |row: &Value| number(row, "self_on_cpu_ticks").max(number(row, "self_ticks"));
        let row = of_crate.max_by(|a, b| own(a).total_cmp(&own(b)));
        let row = row.ok_or_else(|| io::Error::other("no function has enough calls"))?;
        let file = row["file"].as_str().unwrap_or_default();
        let file = self.path(file.strip_prefix("./").unwrap_or(file));
        let mut text = fs::read_to_string(&file)?;
        let line = row["line"].as_u64().unwrap_or(1) as usize - 1;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let name = row["name"].as_str().unwrap_or_default();
        let function = name.rsplit("::").next().unwrap_or_default();
        let body = text[start..]
            .find(&format!("fn {function}"))
            .and_then(|at| Some(start + at + text[start + at..].find("{\n")?))
            .ok_or_else(|| io::Error::other(format!("{name} is not in {}", file.display())))?;
        text.insert_str(body + 1, " crate::idle();");
        fs::write(file, text)?;
        Ok(name.to_owned())
    }

    fn write_main(&self, turns: u32) -> io::Result<()> {
        let Program { name, main, .. } = self.program;
        let manifest = format!(
            "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{name} = {{ path = \"crate\" }}\n{}",
            dependency().replace("[\"release-builds\"]", "[\"release-builds\", \"json\"]")
        );
        let library = name.replace('-', "_");
        let main = format!(
            "{main}\n#[tsc_runtime::cycles]\nfn main() {{
    if let Ok(text) = std::env::var(\"PLANTED_ROUNDS\") {{
        {library}::IDLE.store(text.parse().unwrap(), std::sync::atomic::Ordering::Relaxed);
    }}
    let input = input();
    for _ in 0..{turns} {{
        std::hint::black_box(root(std::hint::black_box(&input)));
    }}
}}\n"
        );
        fs::create_dir_all(self.path("src"))?;
        fs::write(self.path("Cargo.toml"), manifest)?;
        fs::write(self.path("src/main.rs"), main)
    }

    /// Writes the number of rounds into the crate.
    fn set_rounds(&self, rounds: u64) -> io::Result<()> {
        let path = self.path("crate/src/lib.rs");
        let text = fs::read_to_string(&path)?;
        let text = text
            .split(IDLE.split("ROUNDS").next().unwrap_or_default())
            .next()
            .unwrap_or_default();
        fs::write(
            &path,
            text.to_owned() + &IDLE.replace("ROUNDS", &rounds.to_string()),
        )
    }

    /// The number of rounds with which the function takes this share of its own time more, on average over the links.
    fn calibrate(&mut self, share: f64) -> io::Result<u64> {
        let mut many = MANY;
        let rounds = loop {
            let changes = self.changes(USUAL + many)?;
            if mean(&changes) > share * CLEARLY {
                break USUAL + (share * many as f64 / mean(&changes)).round().max(1.0) as u64;
            }
            many *= 4;
        };
        let mut changes = self.changes(rounds)?;
        changes.sort_by(f64::total_cmp);
        self.planted = format!(
            "{:.1} % ({:.1} … {:.1})",
            100.0 * mean(&changes),
            100.0 * changes[0],
            100.0 * changes[changes.len() - 1]
        );
        Ok(rounds)
    }

    /// By how much the slowed function's own ticks per call grow with so many rounds, in the least disturbed of several runs of each link.
    fn changes(&self, rounds: u64) -> io::Result<Vec<f64>> {
        let links = self.path("target/tsc/.ab/before-target/links");
        let folder = fs::read_dir(&links)?.next();
        let folder = folder.ok_or(io::ErrorKind::NotFound)??.path();
        let links = (1..).map(|order: u32| folder.join(order.to_string()));
        let links: Vec<PathBuf> = links.take_while(|link| link.exists()).collect();
        let mut own = vec![[f64::INFINITY; 2]; links.len()];
        for _ in 0..PASSES {
            for (own, link) in own.iter_mut().zip(&links) {
                for (own, rounds) in own.iter_mut().zip([USUAL, rounds]) {
                    let report = self.run(link, rounds)?;
                    let row = row(&report, &self.slowed).ok_or(io::ErrorKind::NotFound)?;
                    *own = own.min(sessions::own(row) / row["calls"].as_f64().unwrap_or(0.0));
                }
            }
        }
        Ok(own.iter().map(|[usual, more]| more / usual - 1.0).collect())
    }

    /// The CPU time of a run.
    fn seconds(&self) -> io::Result<f64> {
        let report = self.run(&self.usual_link(), USUAL)?;
        let main = row(&report, "main").and_then(|row| row["on_cpu_ticks"].as_f64());
        let seconds = main.zip(report["clock"]["hz"].as_f64());
        let (ticks, hz) = seconds.ok_or_else(|| io::Error::other("no figures of main"))?;
        Ok(ticks / hz)
    }

    /// The report of a run with this number of rounds.
    fn run(&self, program: &Path, rounds: u64) -> io::Result<Value> {
        let report = self.path("target/report.json");
        if report.exists() {
            fs::remove_file(&report)?;
        }
        let mut command = Command::new(program);
        run_with_report(command.env("PLANTED_ROUNDS", rounds.to_string()), &report)?;
        Ok(serde_json::from_str(&fs::read_to_string(report)?)?)
    }

    /// A revision whose functions have another order, with some unused ones more.
    pub fn commit_moved(&self, seed: u64) -> io::Result<()> {
        self.git(&["checkout", "--quiet", "before"])?;
        moved::shuffle(&self.path("crate/src"), seed)?;
        self.commit("moved")
    }

    fn commit(&self, tag: &str) -> io::Result<()> {
        self.git(&["add", "."])?;
        self.git(&["commit", "--quiet", "--message", tag])?;
        self.git(&["tag", "--force", tag])
    }

    fn git(&self, words: &[&str]) -> io::Result<()> {
        let output = Command::new("git")
            .current_dir(&self.folder)
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b.c",
                "-c",
                "commit.gpgsign=false",
                "-c",
                "advice.detachedHead=false",
            ])
            .args(words)
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "git {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )))
    }
}

/// The row of a function.
pub fn row<'a>(report: &'a Value, function: &str) -> Option<&'a Value> {
    let rows = report["callsites"].as_array()?;
    rows.iter()
        .find(|row| row["name"].as_str().is_some_and(|name| name == function))
}
