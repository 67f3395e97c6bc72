//! The main example: builds an inverted index of a source tree. Its hot functions are annotated.
//!
//! `cargo run --release -p examples --bin hotspots -- [--threads N] [--pin] [--top N] [PATH…]` reads every file below the paths (by
//! default this repository). It counts how often each word occurs, and in how many files, and prints the most frequent words. The report
//! then shows the ticks for reading, splitting into words, and counting them.

mod arguments;
mod files;
mod index;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use arguments::{Arguments, Request};
use examples::command;
use index::Index;
use tsc_runtime::affinity;

fn main() -> ExitCode {
    match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Request::Run(arguments)) => run(&arguments),
        Ok(Request::Help) => {
            command::print("hotspots", |out| Ok(write!(out, "{}", arguments::HELP)?))
        }
        Err(error) => {
            eprintln!("hotspots: {error}\n{}", arguments::USAGE);
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> ExitCode {
    let files = match files::below(&arguments.paths) {
        Ok(files) if !files.is_empty() => files,
        Ok(_) => {
            eprintln!("hotspots: no file below the given paths");
            return ExitCode::FAILURE;
        }
        Err(message) => {
            eprintln!("hotspots: {message}");
            return ExitCode::FAILURE;
        }
    };
    let index = build(&files, arguments);
    let printed = command::print("hotspots", |out| {
        Ok(write!(out, "{}", index.summary(arguments.top))?)
    });
    tsc_runtime::report();
    printed
}

/// Each thread indexes every N-th file. The parts are merged at the end.
fn build(files: &[PathBuf], arguments: &Arguments) -> Index {
    let count = arguments.threads.min(files.len());
    let part = |worker: usize| {
        let _pinned = arguments.pin.then(|| pin(worker));
        let mut index = Index::default();
        let share = files.iter().skip(worker).step_by(count);
        share.for_each(|path| add(&mut index, path));
        index
    };
    if count == 1 {
        // Here, for there are platforms without threads.
        return part(0);
    }
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .map(|worker| scope.spawn(move || part(worker)))
            .collect();
        let mut whole = Index::default();
        for worker in workers {
            whole.merge(worker.join().expect("an indexing thread panicked"));
        }
        whole
    })
}

fn add(index: &mut Index, path: &Path) {
    match files::read(path) {
        Ok(text) => index.add_file(&text),
        Err(error) => eprintln!("hotspots: {}: {error}", path.display()),
    }
}

/// Keeps the calling thread on one CPU until the guard is dropped. If that is not possible, the figures vary more, but are not wrong.
fn pin(worker: usize) -> Option<affinity::Pinned> {
    let cpus = affinity::cpus().ok()?;
    affinity::pin(cpus[worker % cpus.len()])
        .inspect_err(|error| eprintln!("hotspots: {error}"))
        .ok()
}
