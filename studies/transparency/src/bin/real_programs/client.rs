//! The client of a service. Each time the service starts, the client sends a fixed number of requests over one connection, and then ends
//! the service.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io::{BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use std::{fs, io, thread};

/// For each run of a service, a hash of all its answers.
pub type Answers = Vec<io::Result<u64>>;

/// The number of requests in each run.
const REQUESTS: usize = 2000;
/// The paths that are requested in turn: lists of files, a search, and files.
const PATHS: [&str; 6] = [
    "/",
    "/copy00/record/?json",
    "/copy01/lib.rs",
    "/copy02/?q=histogram",
    "/copy03/report/",
    "/copy04/record/record.rs?hash",
];
/// The time between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(1);

/// Linux does not choose any of these for the client's end of a connection. Otherwise an attempt to connect before the service listens could
/// connect the client to itself.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// A port at which no program listens.
pub fn free_port() -> io::Result<u16> {
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    PORTS
        .into_iter()
        .find(is_free)
        .ok_or_else(|| io::Error::other("no free port"))
}

/// Sends the requests to every service that is started from `folder`, until `stop` is set.
pub fn ask_all(port: u16, folder: &Path, stop: &AtomicBool) -> Answers {
    let mut answers = Vec::new();
    while !stop.load(Relaxed) {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(stream) => {
                let answer = ask(stream);
                // Even if an answer was wrong, because `cargo tsc` waits for the end of the service.
                let ended = process_below(folder).and_then(|process| end(&process));
                answers.push(answer.and_then(|answer| ended.map(|()| answer)));
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
    answers
}

/// Sends the requests. Returns a hash of the statuses and bodies of all answers.
fn ask(stream: TcpStream) -> io::Result<u64> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    let mut output = stream;
    let mut all = DefaultHasher::new();
    for path in PATHS.iter().cycle().take(REQUESTS) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        output.write_all(request.as_bytes())?;
        answer(&mut input)?.hash(&mut all);
    }
    Ok(all.finish())
}

/// The status line and the body.
fn answer(input: &mut impl io::BufRead) -> io::Result<(String, Vec<u8>)> {
    let mut line = || {
        let mut line = String::new();
        input.read_line(&mut line)?;
        io::Result::Ok(line.trim_end().to_owned())
    };
    let status = line()?;
    let mut length = None;
    loop {
        let header = line()?;
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length: usize = length.ok_or_else(|| io::Error::other(format!("{status}: no length")))?;
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok((status, body))
}

/// The folder in `/proc` of the process whose executable is in `folder`.
fn process_below(folder: &Path) -> io::Result<PathBuf> {
    for entry in fs::read_dir("/proc")? {
        let process = entry?.path();
        let program = fs::read_link(process.join("exe"));
        if program.is_ok_and(|program| program.starts_with(folder)) {
            return Ok(process);
        }
    }
    Err(io::Error::other("another program listens at that port"))
}

/// Sends SIGINT, as Ctrl-C does, and waits for the end of the process.
fn end(process: &Path) -> io::Result<()> {
    let id = process.file_name().unwrap_or_default();
    Command::new("kill").arg("-INT").arg(id).status()?;
    // A process that has ended has no executable, even if its parent has not waited for it.
    while fs::read_link(process.join("exe")).is_ok() {
        thread::sleep(PAUSE);
    }
    Ok(())
}
