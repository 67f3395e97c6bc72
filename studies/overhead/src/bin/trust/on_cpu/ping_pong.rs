//! What asking the kernel costs in a program that only switches between threads.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::thread;
use std::time::Instant;

use tsc_runtime::cycles;

use super::{row, spread};
use overhead::table::median;
use overhead::target;

/// The number of exchanges. In each, a byte is sent to the other thread and back.
const EXCHANGES: usize = 10_000;
const ROUNDS: usize = 5;

#[inline(always)]
fn exchange(reader: &mut PipeReader, writer: &mut PipeWriter) -> io::Result<()> {
    writer.write_all(&[1])?;
    reader.read_exact(&mut [0])
}

#[cycles(name = "trust: ping")]
#[inline(never)]
fn annotated(reader: &mut PipeReader, writer: &mut PipeWriter) -> io::Result<()> {
    exchange(reader, writer)
}

#[inline(never)]
fn bare(reader: &mut PipeReader, writer: &mut PipeWriter) -> io::Result<()> {
    exchange(reader, writer)
}

#[cycles(name = "trust: all pings")]
#[inline(never)]
fn all(function: Exchange, reader: &mut PipeReader, writer: &mut PipeWriter) -> io::Result<()> {
    (0..EXCHANGES).try_for_each(|_| function(reader, writer))
}

type Exchange = fn(&mut PipeReader, &mut PipeWriter) -> io::Result<()>;

/// Seconds for the given number of exchanges between two threads, both of which call `function`.
fn play(function: Exchange) -> io::Result<f64> {
    let (mut there, mut to_there) = io::pipe()?;
    let (mut here, mut to_here) = io::pipe()?;
    let other = thread::spawn(move || {
        there.read_exact(&mut [0])?;
        (0..EXCHANGES - 1).try_for_each(|_| function(&mut there, &mut to_here))?;
        to_here.write_all(&[1])
    });
    let start = Instant::now();
    all(function, &mut here, &mut to_there)?;
    let seconds = start.elapsed().as_secs_f64();
    other.join().unwrap_or(Ok(()))?;
    Ok(seconds)
}

pub(super) fn run() -> io::Result<()> {
    play(annotated)?;
    let (mut ratios, mut micros) = (Vec::new(), Vec::new());
    for round in 0..2 * ROUNDS {
        // Each of the two functions goes first in half of the rounds.
        let (with, without) = if round % 2 == 0 {
            let with = play(annotated)?;
            (with, play(bare)?)
        } else {
            let without = play(bare)?;
            (play(annotated)?, without)
        };
        ratios.push(with / without);
        micros.push(without / EXCHANGES as f64 * 1e6);
    }
    let (middle, measured) = spread(&ratios);
    let overhead = row("trust: all pings").zip(row("trust: ping"));
    let each = overhead.map_or(f64::NAN, |(all, ping)| {
        // One of the two threads makes all of its calls inside the outer function.
        all.nested_overhead_ticks() / (ping.calls() as f64 / 2.0)
    });
    target::print(
        &format!(
            "{} ping-pongs between two threads over annotated functions: time ÷ without annotation; overhead of each that is taken out",
            2 * ROUNDS * EXCHANGES
        ),
        "≤ 1.15",
        format!("{measured}, of {:.1} µs; {each:.0} ticks", median(micros)),
        middle <= 1.15,
    );
    Ok(())
}
