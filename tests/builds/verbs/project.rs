//! A small project in a folder of its own, and `cargo tsc` in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use serde_json::Value;
use tempfile::TempDir;
pub(crate) use tests::skipped;

use crate::git;

/// The workspace of the packages.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The program `cargo-tsc`, which is built once for all tests.
fn tool() -> &'static Path {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    TOOL.get_or_init(|| {
        let output = Command::new(env!("CARGO"))
            .current_dir(ROOT)
            .args(["build", "--quiet", "--package", "cargo-tsc"])
            .args(["--message-format", "json-render-diagnostics"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let messages = String::from_utf8(output.stdout).unwrap();
        let mut messages = messages
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let program =
            messages.find_map(|message| message["executable"].as_str().map(PathBuf::from));
        program.expect("cargo says where the program is")
    })
}

/// The folder for intermediate files of all projects.
fn build_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("build")
}

/// A program that calls `work` 20 times and `outer` twice. Its argument says how it ends.
pub(crate) const PROGRAM: &str = r#"
use tsc_runtime::cycles;

mod inner {
    #[tsc_runtime::cycles]
    pub fn work(rounds: u64) -> u64 {
        (0..rounds).fold(1, |x, i| std::hint::black_box(x * (i | 1) % 1_000_003))
    }
}

#[cycles]
fn outer() -> u64 {
    (0..10).map(|_| inner::work(2000)).sum()
}

fn main() {
    println!("result {}", outer() + outer());
    match std::env::args().nth(1).as_deref() {
        Some("fail") => std::process::exit(7),
        Some("rest") => std::thread::sleep(std::time::Duration::from_millis(600)),
        Some("abort") => {
            tsc_runtime::report();
            std::process::abort()
        }
        Some("read") => print!("{}", std::io::read_to_string(std::io::stdin()).unwrap()),
        _ => {}
    }
}
"#;

/// A report of [`PROGRAM`] with its call tree, as JSON in one line. The program is built and run once for all tests.
pub(crate) fn report() -> &'static str {
    static REPORT: OnceLock<String> = OnceLock::new();
    REPORT.get_or_init(|| {
        let project = Project::new(PROGRAM);
        project.tsc("run --tree --name one").ends(0);
        project.read(&project.report_of("one/001"))
    })
}

/// A project, whose folder is removed when this is dropped.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// Creates a project with this program, which depends on tsc-runtime.
    pub(crate) fn new(program: &str) -> Self {
        let runtime = Path::new(ROOT).join("tsc-runtime");
        let dependency = format!("[dependencies]\ntsc-runtime = {{ path = {runtime:?} }}\n");
        Self::with_manifest(&dependency, program)
    }

    /// Creates a project whose manifest ends with this text.
    pub(crate) fn with_manifest(end: &str, program: &str) -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        // The projects share a build folder, where packages with equal name and version are the same. So each project has its own version.
        static PROJECTS: AtomicU32 = AtomicU32::new(0);
        let version = PROJECTS.fetch_add(1, Relaxed);
        let head = format!(
            "[package]
name = \"app\"
version = \"0.1.{version}\"
edition = \"2024\"

[workspace]

"
        );
        project.write("Cargo.toml", &format!("{head}{end}"));
        project.write("src/main.rs", program);
        // Use the versions of this workspace, which are present already.
        let lock = Path::new(ROOT).join("Cargo.lock");
        fs::copy(lock, project.path("Cargo.lock")).unwrap();
        #[cfg(unix)]
        project.share_builds_apart("target");
        project
    }

    /// Makes the projects share what `run --all` and `ab` build in folders of their own, too, if this is the target folder.
    #[cfg(unix)]
    pub(crate) fn share_builds_apart(&self, target: &str) {
        let own = self.path(target).join("tsc");
        let own = build_folder().join(own.strip_prefix("/").unwrap());
        for (folder, of) in [(".all", "build"), (".ab", "ab-build")] {
            let common = build_folder().join(of);
            fs::create_dir_all(&common).unwrap();
            fs::create_dir_all(own.join(folder)).unwrap();
            std::os::unix::fs::symlink(common, own.join(folder).join(of)).unwrap();
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// The file of the only report of a run: `session/001`.
    pub(crate) fn report_of(&self, run: &str) -> String {
        let folder = format!("target/tsc/{run}");
        let mut files = fs::read_dir(self.path(&folder)).unwrap();
        let name = files.next().unwrap().unwrap().file_name();
        format!("{folder}/{}", name.display())
    }

    /// Runs a command, and interrupts it and its children when it is time.
    #[cfg(unix)]
    pub(crate) fn interrupted(&self, words: &str, is_time: impl Fn() -> bool) -> Ended {
        use std::os::unix::process::CommandExt as _;
        use std::time::{Duration, Instant};

        let mut command = self.command(words);
        command.process_group(0).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(1500);
        while !is_time() {
            assert!(
                Instant::now() < deadline && child.try_wait().unwrap().is_none(),
                "it has not come so far"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        let group = format!("-{}", child.id());
        let mut kill = Command::new("kill");
        let killed = kill.args(["-INT", "--", &group]).status().unwrap();
        assert!(killed.success());
        Ended::of(child.wait_with_output().unwrap(), words)
    }

    /// The command `cargo tsc` with these words.
    pub(crate) fn command(&self, words: &str) -> Command {
        #[cfg(unix)]
        signals::obey();
        let mut command = tests::program(tool());
        command
            .current_dir(self.folder.path())
            .arg("tsc")
            .args(words.split_whitespace());
        command.env("CARGO_TARGET_DIR", self.path("target"));
        // The projects are built for this machine, even if these tests are built for another target.
        command.env_remove("CARGO_BUILD_TARGET");
        // The common dependencies of all projects are built once.
        command.env("CARGO_BUILD_BUILD_DIR", build_folder());
        // It would be most of what is built, and nothing reads it.
        command.env("CARGO_PROFILE_DEV_DEBUG", "false");
        for name in ["CLICOLOR_FORCE", "CARGO_TERM_COLOR", "RUSTFLAGS"] {
            command.env_remove(name);
        }
        git::forget_the_user(&mut command);
        command
    }

    /// Runs the command to its end.
    pub(crate) fn tsc(&self, words: &str) -> Ended {
        Ended::of(self.command(words).output().unwrap(), words)
    }

    /// Runs a command that is refused, with an error that holds a text.
    #[track_caller]
    pub(crate) fn refuses(&self, words: &str, said: &str) -> Ended {
        self.tsc(words).ends(2).complains(said)
    }
}

/// Reads all files in a folder, except those in folders named `target`.
pub(crate) fn read_all(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().unwrap() != "target" {
            read_all(&path, into);
        } else if path.is_file() {
            into.insert(path.clone(), fs::read(path).unwrap());
        }
    }
}

/// Runs `cargo tsc` with these words in a terminal, and returns what it shows there. The output for data is discarded. `None` if the program
/// `script`, which makes the terminal, is not installed.
#[cfg(target_os = "linux")]
#[track_caller]
pub(crate) fn in_a_terminal(project: &Project, words: &str) -> Option<String> {
    let mut script = terminal(project, words, "stty cols 100 rows 30; TSC > /dev/null");
    match script.stdin(Stdio::null()).output() {
        Ok(output) => {
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{shown}");
            Some(shown)
        }
        Err(error) => {
            skipped(&format!("script: {error}"));
            None
        }
    }
}

/// A line of the shell in a terminal, in which `TSC` is `cargo tsc` with these words.
#[cfg(target_os = "linux")]
pub(crate) fn terminal(project: &Project, words: &str, line: &str) -> Command {
    let measured = project.command(words);
    let command = line.replace("TSC", &format!("{} tsc {words}", tool().display()));
    let mut script = Command::new("script");
    script
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(project.path("."))
        .env("TERM", "xterm");
    for (name, value) in measured.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    script
}

/// How a command ended, with its output.
pub(crate) struct Ended {
    words: String,
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn of(output: Output, words: &str) -> Self {
        Self {
            words: words.to_owned(),
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn ends(self, status: i32) -> Self {
        assert_eq!(
            self.status, status,
            "cargo tsc {}\n{}{}",
            self.words, self.out, self.err
        );
        self
    }

    /// Checks that the output holds a text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.out.contains(text),
            "no {text:?} in cargo tsc {}\n{}{}",
            self.words,
            self.out,
            self.err
        );
        self
    }

    /// Checks that the last line is an error that holds a text; the lines before it are cargo's.
    #[track_caller]
    pub(crate) fn complains(self, text: &str) -> Self {
        let last = self.err.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("error: ") && last.contains(text),
            "no {text:?} in cargo tsc {}\n{}",
            self.words,
            self.err
        );
        self
    }

    /// Checks that a remark holds a text.
    #[track_caller]
    pub(crate) fn remarks(self, text: &str) -> Self {
        assert!(
            self.err.contains(text),
            "no {text:?} in cargo tsc {}\n{}",
            self.words,
            self.err
        );
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// The calls of each row of a report, by module and name.
    #[track_caller]
    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        let json = self.json();
        let rows = json["report"]["callsites"].as_array().unwrap().iter();
        rows.map(|row| {
            let [module, name] = ["module", "name"].map(|key| row[key].as_str().unwrap());
            (format!("{module}::{name}"), row["calls"].as_u64().unwrap())
        })
        .collect()
    }
}

/// The signals that the tests send.
#[cfg(unix)]
mod signals {
    use std::sync::{Arc, Once};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    /// Makes the commands start with the default action of each signal, even if the tests were started with signals ignored, as a shell starts
    /// a job in the background: a program inherits ignored signals, but not handlers.
    pub(super) fn obey() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                let always = Arc::new(true.into());
                signal_hook::flag::register_conditional_default(signal, always).unwrap();
            }
        });
    }
}
