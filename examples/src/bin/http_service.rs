//! An HTTP server that reports what its requests cost: `/work/N` does some work, `/metrics` is for Prometheus, and `/report` is the whole
//! report as JSON.
//!
//! Run `cargo run --release -p examples --bin http_service`, then `curl http://127.0.0.1:PORT/metrics`. With `--demo`, it sends the
//! requests itself.

use std::hint::black_box;
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;

use examples::command::Example;
use tsc_runtime::cycles;

const EXAMPLE: Example = Example {
    name: "http_service",
    about: "Serves HTTP on a free port of this machine, and reports what its requests cost: /work/N, /metrics, /report.",
    flags: &[(
        "demo",
        "sends itself a thousand requests, prints /metrics and ends",
    )],
};

/// The content type that Prometheus expects.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

fn main() -> ExitCode {
    EXAMPLE.run(|flags, out| {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        if flags.has("demo") {
            thread::spawn(move || serve(&listener));
            for n in 0..1000 {
                get(address, &format!("/work/{}", n % 50 * 100))?;
            }
            return Ok(write!(out, "{}", get(address, "/metrics")?)?);
        }
        writeln!(out, "http://{address}")?;
        out.flush()?;
        serve(&listener);
        Ok(())
    })
}

/// Handles one request after the other, as long as the program runs.
fn serve(listener: &TcpListener) {
    for stream in listener.incoming() {
        // If a client disconnects, the server continues.
        if let Err(error) = stream.and_then(|stream| answer(&stream)) {
            eprintln!("http_service: {error}");
        }
    }
}

/// A request's first line is `GET /path HTTP/1.1`. An empty line ends its header.
fn answer(stream: &TcpStream) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, kind, body) = match path.strip_prefix("/work/").map(str::parse) {
        Some(Ok(rounds)) => ("200 OK", "text/plain", format!("{}\n", work(rounds))),
        None if path == "/metrics" => (
            "200 OK",
            OPENMETRICS,
            tsc_runtime::snapshot().to_openmetrics(),
        ),
        None if path == "/report" => (
            "200 OK",
            "application/json",
            tsc_runtime::snapshot().to_json(),
        ),
        _ => ("404 Not Found", "text/plain", "no such page\n".to_owned()),
    };
    let length = body.len();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// The work of the service.
#[cycles]
fn work(rounds: u64) -> u64 {
    (0..rounds).fold(1, |x, i| black_box(x * (i | 1) % 1_000_003))
}

/// The body of the response for `path`.
fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    body.ok_or_else(|| io::Error::other("no body"))
}
