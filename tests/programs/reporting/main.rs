//! A program that measures, and ends in the way that its argument names; `outputs.rs` checks its output.

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tsc_runtime::cycles;

#[cycles]
fn work(seed: u64) -> u64 {
    (0..100).fold(seed, |sum, number| sum.rotate_left(1) ^ number)
}

#[cycles]
fn next(number: u64) -> u64 {
    number + 1
}

#[cycles]
async fn wait() {
    std::future::pending().await
}

#[cycles]
fn reports_inside() {
    work(1);
    tsc_runtime::report();
}

#[cycles]
fn ends_inside(session: Option<tsc_runtime::Session>) {
    drop(session);
}

struct ReportsWhenDropped;

impl Drop for ReportsWhenDropped {
    fn drop(&mut self) {
        work(1);
        tsc_runtime::report();
    }
}

fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    if way == "nothing" {
        return;
    }
    if way == "report-nothing" {
        return tsc_runtime::report();
    }
    let all = way.starts_with("session-of-all").then(|| {
        // More CPU time than the session takes.
        let end = Instant::now() + Duration::from_millis(100);
        while Instant::now() < end {}
        tsc_runtime::session()
    });
    (0..10).for_each(|seed| {
        work(seed);
    });
    match way.as_str() {
        "return" => {}
        "call-often" => (0..100_000).for_each(|seed| _ = next(seed)),
        "exit" => std::process::exit(3),
        "exit-in-thread" => {
            let _ = thread::spawn(|| std::process::exit(3)).join();
        }
        "report" => tsc_runtime::report(),
        "report-twice" => {
            tsc_runtime::report();
            tsc_runtime::report();
        }
        "report-then-more" => {
            tsc_runtime::report();
            work(1);
        }
        "report-reset-report" => {
            tsc_runtime::report();
            tsc_runtime::reset();
            work(1);
        }
        "dump-to" => {
            for path in std::env::args().skip(2) {
                tsc_runtime::dump_to(path).expect("the test's folder can be written to");
            }
        }
        "named-threads" => named_threads(),
        "take-with-threads" => {
            named_threads();
            print!("{}", tsc_runtime::take().to_json());
            named_threads();
        }
        "sessions" => sessions(),
        "session-of-all" => drop(all),
        "session-of-all-in-a-call" => ends_inside(all),
        "report-then-session" => {
            tsc_runtime::report();
            let _session = tsc_runtime::session();
            work(1);
        }
        "report-inside" => reports_inside(),
        "report-in-threads" => thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    work(1);
                    tsc_runtime::report();
                });
            }
        }),
        "report-while-panicking" => {
            let _report = ReportsWhenDropped;
            panic!("as the test wants");
        }
        "abort-after-panic-in-hook" => {
            std::panic::set_hook(Box::new(|_| tsc_runtime::report()));
            panic!("as the test wants");
        }
        "closed-stderr" => {
            // SAFETY: nothing in this program keeps descriptor 2.
            #[cfg(unix)]
            unsafe {
                libc::close(2);
            }
            tsc_runtime::report();
        }
        "fork" => fork(),
        "forks" => {
            for _ in 0..3 {
                fork();
                // File systems take times from a clock that may be late by so much.
                thread::sleep(Duration::from_millis(30));
            }
        }
        "report-then-fork" => {
            tsc_runtime::report();
            fork();
        }
        "only-polls" => {
            tsc_runtime::reset();
            let mut waiting = pin!(wait());
            assert!(
                waiting
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
        }
        other => panic!("no way to end is called {other}"),
    }
}

/// Runs two threads with the same name, one with another name, and one without a name. All of them have ended afterwards.
fn named_threads() {
    let threads = [
        (Some("worker"), 20),
        (Some("worker"), 30),
        (Some("other \x1b[2J"), 5),
        (None, 2),
    ];
    for (name, calls) in threads {
        let builder = thread::Builder::new();
        let builder = match name {
            Some(name) => builder.name(name.to_owned()),
            None => builder,
        };
        let thread = builder.spawn(move || {
            (0..calls).for_each(|seed| {
                work(seed);
            });
        });
        thread
            .expect("the thread can be started")
            .join()
            .expect("the thread does not panic");
    }
}

/// Sessions one after the other, one inside another, an empty one, and one around several threads.
fn sessions() {
    let first = tsc_runtime::session();
    work(1);
    drop(first);
    let outer = tsc_runtime::session();
    (0..3).for_each(|seed| {
        work(seed);
    });
    let inner = tsc_runtime::session();
    work(2);
    assert_eq!(
        inner.report().callsite("work").map(|work| work.calls()),
        Some(1)
    );
    drop(inner);
    drop(outer);
    let nothing = tsc_runtime::session();
    drop(nothing);
    // A session around the calls of all threads, each of which has its own session, too.
    let of_threads = tsc_runtime::session();
    let threads: Vec<_> = (0..4)
        .map(|seed| {
            thread::spawn(move || {
                let own = tsc_runtime::session();
                work(seed);
                let calls = own.report().callsite("work").map_or(0, |work| work.calls());
                assert!((1..=4).contains(&calls));
                std::mem::forget(own);
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("the thread does not panic");
    }
    drop(of_threads);
}

/// Forks. The child makes one call, and both processes end by themselves.
fn fork() {
    #[cfg(unix)]
    // SAFETY: no other thread is running.
    unsafe {
        if libc::fork() == 0 {
            work(1);
            std::process::exit(0);
        }
        let mut status = 0;
        libc::wait(&raw mut status);
    }
}
