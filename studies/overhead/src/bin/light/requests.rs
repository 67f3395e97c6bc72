//! An asynchronous server with five kinds of requests, of which one takes long on the CPU. How long, its function measures by the kernel's clock.

use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream as Client;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::{task, time};

use overhead::kernel::cpu_time;
use overhead::target::print;
use tsc_runtime::{cycles, reset, snapshot};

use crate::{own, row, work};

/// About 150 µs.
const STEPS: u64 = 75_000;
/// The argument with which this program is the clients, and not the server.
pub(crate) const CLIENTS: &str = "clients";
const CONNECTIONS: u8 = 8;
const KINDS: u8 = 5;
/// What one kind of request sends, and gets back.
const BODY: usize = 64 * 1024;
const TIME: Duration = Duration::from_secs(10);

/// The CPU time of `long` in nanoseconds, which it measures itself.
static OF_LONG: AtomicU64 = AtomicU64::new(0);

#[cycles(light)]
#[inline(never)]
fn long() -> u64 {
    let before = cpu_time();
    let value = work(STEPS);
    OF_LONG.fetch_add((cpu_time() - before).as_nanos() as u64, Relaxed);
    value
}

#[cycles(light)]
fn echo_once(body: &mut [u8]) {
    body.iter_mut()
        .for_each(|byte| *byte = byte.wrapping_add(1));
}

#[cycles(light)]
async fn answer(kind: u8, stream: &mut TcpStream) -> io::Result<u64> {
    match kind {
        0 => Ok(long()),
        1 => {
            time::sleep(Duration::from_millis(1)).await;
            Ok(1)
        }
        2 => {
            let mut body = vec![0; BODY];
            stream.read_exact(&mut body).await?;
            echo_once(&mut body);
            stream.write_all(&body).await?;
            Ok(2)
        }
        3 => Ok(task::spawn_blocking(|| work(1000)).await?),
        _ => {
            let never = std::future::pending::<u64>();
            Ok(time::timeout(Duration::from_millis(2), never)
                .await
                .unwrap_or(4))
        }
    }
}

async fn serve(mut stream: TcpStream) -> io::Result<()> {
    while let Ok(kind) = stream.read_u8().await {
        let value = answer(kind, &mut stream).await?;
        stream.write_u64(black_box(value)).await?;
    }
    Ok(())
}

async fn accept(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        task::spawn(serve(stream));
    }
}

pub(crate) fn run() {
    measure().expect("the server has a port of its own");
}

fn measure() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let port = listener.local_addr()?.port();
    runtime.spawn(accept(listener));
    reset();
    let mut clients = start_clients(port)?;
    clients.wait()?;
    let report = snapshot();
    let hz = report.clock().hz().unwrap_or(f64::NAN);
    let by_kernel = OF_LONG.load(Relaxed) as f64 / 1e9 * hz;
    let error = 100.0 * (own(&report, "long") / by_kernel - 1.0);
    let stated = row(&report, "long").self_error_ticks().unwrap_or(0.0) / by_kernel * 100.0;
    print(
        "server of five kinds of requests: self of the longest function, compared with the kernel's clock",
        "within 25 %",
        format!("{error:+.1} % (stated ± {stated:.0} %)"),
        error.abs() <= 25.0,
    );
    Ok(())
}

/// Another process, so that the server's threads are this one's only.
fn start_clients(port: u16) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args([CLIENTS, &port.to_string()])
        .env("TSC_REPORT", "off")
        .spawn()
}

/// Sends all kinds of requests in turns, on each of some connections.
pub(crate) fn send() {
    let port = std::env::args().nth(2);
    let port: u16 = port.and_then(|port| port.parse().ok()).unwrap_or_default();
    std::thread::scope(|scope| {
        for first in 0..CONNECTIONS {
            scope.spawn(move || send_on(port, first));
        }
    });
}

fn send_on(port: u16, first: u8) -> io::Result<()> {
    let mut stream = Client::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let mut body = vec![1; BODY];
    let began = Instant::now();
    for number in 0.. {
        if began.elapsed() > TIME {
            break;
        }
        let kind = (first + (number % u64::from(KINDS)) as u8) % KINDS;
        stream.write_all(&[kind])?;
        if kind == 2 {
            stream.write_all(&body)?;
            stream.read_exact(&mut body)?;
        }
        stream.read_exact(&mut [0; 8])?;
    }
    Ok(())
}
