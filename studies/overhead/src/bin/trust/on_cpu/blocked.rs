//! Functions that sleep, read, wait for a lock, and wait for a connection.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use tsc_runtime::cycles;

use super::{row, share, ticks_per_second};
use overhead::target;

#[cycles(name = "trust: sleeps")]
#[inline(never)]
fn sleeps(time: Duration) {
    thread::sleep(time);
}

#[cycles(name = "trust: reads a pipe")]
#[inline(never)]
fn reads(pipe: &mut io::PipeReader) -> io::Result<()> {
    pipe.read_exact(&mut [0])
}

#[cycles(name = "trust: waits for a mutex")]
#[inline(never)]
fn locks(mutex: &Mutex<()>) {
    drop(mutex.lock());
}

#[cycles(name = "trust: accepts")]
#[inline(never)]
fn accepts(listener: &TcpListener) -> io::Result<TcpStream> {
    Ok(listener.accept()?.0)
}

pub(super) fn run() -> io::Result<()> {
    // Each first call is recorded separately.
    let mut walls = Vec::new();
    for _ in 0..=500 {
        time(&mut walls, || sleeps(Duration::from_millis(2)));
    }
    print("sleeps 2 ms", "trust: sleeps", walls);
    print(
        "reads a pipe that is written every 0.5 ms",
        "trust: reads a pipe",
        read_a_pipe()?,
    );
    print(
        "waits for a mutex that is held for 2 ms",
        "trust: waits for a mutex",
        wait_for_a_mutex(),
    );
    print(
        "accept, when nobody connects for 10 ms",
        "trust: accepts",
        accept()?,
    );
    Ok(())
}

fn time<T>(walls: &mut Vec<f64>, call: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = call();
    walls.push(start.elapsed().as_secs_f64());
    result
}

fn read_a_pipe() -> io::Result<Vec<f64>> {
    const READS: usize = 2_000;
    let (mut reader, mut writer) = io::pipe()?;
    let writer = thread::spawn(move || {
        (0..=READS).try_for_each(|_| {
            thread::sleep(Duration::from_micros(500));
            writer.write_all(&[1])
        })
    });
    let mut walls = Vec::new();
    for _ in 0..=READS {
        time(&mut walls, || reads(&mut reader))?;
    }
    writer.join().unwrap_or(Ok(()))?;
    Ok(walls)
}

fn wait_for_a_mutex() -> Vec<f64> {
    let mutex = Mutex::new(());
    let (ask, asked) = channel();
    let (tell, told) = channel();
    let mut walls = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for () in asked {
                let held = mutex.lock();
                let _ = tell.send(());
                thread::sleep(Duration::from_millis(2));
                drop(held);
            }
        });
        for _ in 0..=300 {
            if ask.send(()).is_ok() && told.recv().is_ok() {
                time(&mut walls, || locks(&mutex));
            }
        }
        drop(ask);
    });
    walls
}

fn accept() -> io::Result<Vec<f64>> {
    const CONNECTIONS: usize = 100;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let client = thread::spawn(move || {
        (0..=CONNECTIONS).try_for_each(|_| {
            thread::sleep(Duration::from_millis(10));
            TcpStream::connect(address).map(drop)
        })
    });
    let mut walls = Vec::new();
    for _ in 0..=CONNECTIONS {
        time(&mut walls, || accepts(&listener))?;
    }
    client.join().unwrap_or(Ok(()))?;
    Ok(walls)
}

/// `walls` are the times of the same calls by another clock, in seconds.
fn print(what: &str, name: &str, mut walls: Vec<f64>) {
    let Some((row, on_cpu)) = row(name).and_then(|row| Some((row.clone(), row.on_cpu_ticks()?)))
    else {
        return target::print(what, "", "not known here".to_owned(), false);
    };
    let hz = ticks_per_second();
    let blocked = share(&row, row.blocked_ticks());
    let off = blocked + share(&row, row.waiting_ticks());
    let micros = on_cpu / row.calls() as f64 / hz * 1e6;
    walls.remove(0);
    walls.sort_by(f64::total_cmp);
    let wall = |share: f64| walls[((walls.len() as f64 * share).ceil() as usize).max(1) - 1];
    let ratio = |ticks: Option<f64>, share| ticks.unwrap_or(f64::NAN) / hz / wall(share);
    let (p50, p99) = (
        ratio(row.wall_p50_ticks(), 0.5),
        ratio(row.wall_p99_ticks(), 0.99),
    );
    let is_right = |ratio: f64| (0.95..=1.05).contains(&ratio);
    target::print(
        &format!(
            "{what}: blocked; off the CPU; mean on the CPU; wall p50 and p99 ÷ another clock's"
        ),
        "≥ 98 % of what is not waiting; ≤ 60 µs; 0.95–1.05",
        format!("{blocked:.1} %; {off:.1} %; {micros:.1} µs; {p50:.3} and {p99:.3}"),
        blocked >= 0.98 * (100.0 - share(&row, row.waiting_ticks()))
            && micros <= 60.0
            && is_right(p50)
            && is_right(p99),
    );
}
