//! The forms in which a program is built.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use transparency::programs;
use transparency::project::copy_dir;

use crate::Program;

/// The program's folder, with an executable of each form.
pub struct Forms {
    folder: PathBuf,
    pub crates: Crates,
}

impl Forms {
    pub fn at(folder: PathBuf) -> io::Result<Self> {
        let lock = fs::read_to_string(folder.join("target/tsc/.all/bare/Cargo.lock"))?;
        Ok(Self {
            crates: Crates::of_lock(&lock, &folder),
            folder,
        })
    }

    /// Without any attribute.
    pub fn bare(&self) -> PathBuf {
        self.folder.join("bare")
    }

    /// The functions that have a probe in `every` have `#[inline(never)]`.
    pub fn not_inlined(&self) -> PathBuf {
        self.folder.join("not_inlined")
    }

    /// The first build of `run --all`.
    pub fn every(&self) -> PathBuf {
        self.folder.join("every")
    }

    /// The last build of `run --all`, which is reported.
    pub fn chosen(&self) -> PathBuf {
        self.folder.join("chosen")
    }
}

/// The crates of the program.
pub struct Crates {
    program: PathBuf,
    /// Their names, and the names of the folders with their sources.
    folders: Vec<(String, String)>,
}

impl Crates {
    fn of_lock(lock: &str, program: &Path) -> Self {
        let value = |line: &str| Some(line.split('"').nth(1)?.to_owned());
        let lines: Vec<&str> = lock.lines().collect();
        let folders = lines.windows(2).filter(|two| two[0].starts_with("name = "));
        let folders = folders.filter_map(|two| {
            let (name, version) = (value(two[0])?, value(two[1])?);
            Some((name.clone(), format!("/{name}-{version}/")))
        });
        Self {
            program: program.to_owned(),
            folders: folders.collect(),
        }
    }

    /// The crate of a source file. `None` if it is of the standard library, which contains other crates, too.
    pub fn of(&self, file: &str) -> Option<String> {
        if file.starts_with("/rustc/") || file.starts_with("/rust/deps/") {
            return None;
        }
        let known = self
            .folders
            .iter()
            .find(|(_, folder)| file.contains(folder));
        match known {
            Some((name, _)) => Some(name.clone()),
            None => (file.starts_with("src/") || Path::new(file).starts_with(&self.program))
                .then(|| "(the program)".to_owned()),
        }
    }
}

/// Writes the program and builds all forms.
pub fn build(program: &Program, tool: &Path, folder: &Path) -> io::Result<()> {
    let source = folder.join("source");
    write(program, &source)?;
    let all = folder.join("target/tsc/.all");
    let _ = fs::remove_dir_all(&all);
    let keep = |target: &Path, form: &str| {
        fs::copy(target.join("release").join(program.name), folder.join(form)).map(drop)
    };
    // When the bare program starts, the first build has been measured.
    let mut run = run_all(tool, &source, folder)?;
    while run.try_wait()?.is_none() && !is_running(&all.join("bare-target")) {
        thread::sleep(Duration::from_millis(5));
    }
    Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status()?;
    finish(run)?;
    keep(&all.join("annotated-target"), "every")?;
    keep(&all.join("bare-target"), "bare")?;
    not_inlined(&all, folder)?;
    keep(&folder.join("not-inlined-target"), "not_inlined")?;
    finish(run_all(tool, &source, folder)?)?;
    keep(&all.join("annotated-target"), "chosen")
}

/// The dependencies are in comments of the program's text.
fn write(program: &Program, source: &Path) -> io::Result<()> {
    fs::create_dir_all(source.join("src"))?;
    let dependencies = program
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("// "));
    let dependencies: Vec<&str> = dependencies.filter(|line| line.contains(" = ")).collect();
    let manifest = format!(
        "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\n[profile.release]\ndebug = \"line-tables-only\"\n\n[workspace]\n",
        program.name,
        dependencies.join("\n")
    );
    fs::write(source.join("Cargo.toml"), manifest)?;
    fs::write(source.join("src/main.rs"), program.text)
}

fn run_all(tool: &Path, source: &Path, folder: &Path) -> io::Result<Child> {
    Command::new(tool)
        .current_dir(source)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .args([
            "tsc",
            "run",
            "--all",
            "--with-deps",
            "--name",
            "all",
            "--release",
        ])
        .stdin(Stdio::null())
        .stdout(fs::File::create(folder.join("report.txt"))?)
        .stderr(
            fs::File::options()
                .create(true)
                .append(true)
                .open(folder.join("remarks.txt"))?,
        )
        .spawn()
}

fn finish(mut run: Child) -> io::Result<()> {
    match run.wait()?.success() {
        true => Ok(()),
        false => Err(io::Error::other("cargo tsc failed, see remarks.txt")),
    }
}

/// Whether a program runs whose executable is in this folder.
fn is_running(folder: &Path) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.into_iter().any(|process| {
        fs::read_link(process.path().join("exe")).is_ok_and(|path| path.starts_with(folder))
    })
}

/// Builds the annotated copies with `#[inline(never)]` in place of `#[cycles]`.
fn not_inlined(all: &Path, folder: &Path) -> io::Result<()> {
    let copy = folder.join("not-inlined");
    let _ = fs::remove_dir_all(&copy);
    for part in ["annotated", "with"] {
        copy_dir(&all.join(part), &copy.join(part))?;
    }
    let [here, there] = [&copy, all].map(|path| path.display().to_string());
    each_file(&copy, &|file| {
        let Ok(text) = fs::read_to_string(file) else {
            return Ok(());
        };
        let text = programs::not_inlined(&text);
        fs::write(file, text.replace(&there, &here))
    })?;
    transparency::cargo::build_release(&copy.join("annotated"), &folder.join("not-inlined-target"))
}

fn each_file(folder: &Path, change: &dyn Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            each_file(&path, change)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "toml")
        {
            change(&path)?;
        }
    }
    Ok(())
}
