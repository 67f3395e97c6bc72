//! A server that answers 20 000 requests, each in a few microseconds, except for one. Which one, and why? The lines below the rows say it.
//!
//! `cargo run --release -p examples --bin slow_request`; docs/slowest.md describes the output.

use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use examples::command::{Example, Outcome};
use tsc_runtime::{TextOptions, cycles};

const EXAMPLE: Example = Example {
    name: "slow_request",
    about: "Answers 20 000 requests on two threads, and finds the one that was slow.",
    flags: &[],
};

const THREADS: u64 = 2;
const REQUESTS: u64 = 10_000;

/// What a client asks for.
struct Request {
    path: String,
}

/// The orders in memory. The others are on a disk.
struct Orders {
    recent: HashMap<String, u64>,
}

/// The path is kept of the slowest calls. It is not looked at for any other.
#[cycles(record = request.path.as_str())]
fn handle(request: &Request, orders: &Orders) -> String {
    let order = orders.find(&request.path);
    render(&request.path, order)
}

impl Orders {
    #[cycles]
    fn find(&self, path: &str) -> u64 {
        match self.recent.get(path) {
            Some(&order) => order,
            None => read_from_disk(path),
        }
    }
}

/// A disk that takes its time.
#[cycles]
fn read_from_disk(path: &str) -> u64 {
    thread::sleep(Duration::from_millis(25));
    path.len() as u64
}

#[cycles]
fn render(path: &str, order: u64) -> String {
    let sum = (0..2_000).fold(order, |sum, digit| black_box(sum.wrapping_mul(31) ^ digit));
    format!("<h1>{path}</h1><p>{sum}</p>")
}

/// One of the server's threads. Only one request of all is for an order that is not in memory.
#[cycles]
fn serve(thread: u64, orders: &Orders) -> usize {
    let numbers = (0..REQUESTS).map(|number| number * THREADS + thread);
    let answers = numbers.map(|number| {
        let path = match number {
            12_345 => "/orders/1066".to_owned(),
            _ => format!("/orders/{}", 5_000 + number % 1_000),
        };
        handle(&Request { path }, orders).len()
    });
    answers.sum()
}

fn main() -> ExitCode {
    EXAMPLE.run(|_, out| {
        let recent = (5_000..6_000).map(|number| (format!("/orders/{number}"), number));
        let orders = Orders {
            recent: recent.collect(),
        };
        let bytes: usize = thread::scope(|scope| {
            let start = |thread| {
                let name = thread::Builder::new().name(format!("worker-{thread}"));
                let orders = &orders;
                name.spawn_scoped(scope, move || serve(thread, orders))
            };
            let workers: Vec<_> = (0..THREADS).map(start).collect();
            let ends = workers
                .into_iter()
                .map(|worker| Ok(worker?.join().unwrap_or(0)));
            ends.sum::<std::io::Result<usize>>()
        })?;
        writeln!(out, "{bytes} bytes were answered")?;
        print(out)
    })
}

/// What `cargo tsc report --slowest` prints. Then there is nothing left to report at the end.
fn print(out: &mut dyn std::io::Write) -> Outcome {
    let report = tsc_runtime::take();
    Ok(write!(
        out,
        "{}",
        report.to_text(&TextOptions::default().slowest(true))
    )?)
}
