//! Futures are in the call tree where they are polled.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context as TaskContext, Poll, Waker};

use tsc_runtime::cycles;

use super::{ALONE, chains, check, expect, leaf};

struct Pending(u32);

impl Future for Pending {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _context: &mut TaskContext<'_>) -> Poll<()> {
        self.0 -= 1;
        if self.0 == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

#[cycles]
async fn waits() -> u64 {
    leaf();
    Pending(5).await;
    leaf()
}

#[cycles]
async fn awaits() -> u64 {
    waits().await + waits().await
}

#[cycles]
fn polls() {
    let mut future = pin!(awaits());
    let mut context = TaskContext::from_waker(Waker::noop());
    while future.as_mut().poll(&mut context).is_pending() {}
}

#[test]
fn futures_are_where_they_are_polled() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(polls);
    expect(
        &chains,
        &[
            ("polls", 1),
            ("polls > awaits", 1),
            ("polls > awaits > waits", 2),
            ("polls > awaits > waits > leaf", 4),
        ],
    );
    check(&report);
}

/// A future that is pending once.
fn pause() -> Pending {
    Pending(2)
}

#[cycles]
async fn pauses() {
    leaf();
    pause().await;
    leaf();
    pause().await;
    leaf();
}

/// Polls a future until it is ready, but at most `polls` times.
fn poll(mut future: Pin<&mut (impl Future<Output = ()> + ?Sized)>, polls: u32) {
    let mut context = TaskContext::from_waker(Waker::noop());
    for _ in 0..polls {
        if future.as_mut().poll(&mut context).is_ready() {
            return;
        }
    }
}

#[cycles]
fn executor(futures: u32, polls: u32) {
    for _ in 0..futures {
        poll(pin!(pauses()), polls);
    }
}

#[test]
fn cancelled_future_is_no_call() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        executor(10, 3);
        executor(1000, 2);
    });
    expect(
        &chains,
        &[
            ("executor", 2),
            ("executor > pauses", 10),
            ("executor > pauses > leaf", 2030),
        ],
    );
    check(&report);
}

/// Drops the futures in another function than the one that polled them first.
#[cycles]
fn drops(futures: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>) {
    drop(futures);
}

#[cycles]
fn first_polls(futures: &mut [Pin<Box<dyn Future<Output = ()> + Send>>]) {
    for future in futures {
        poll(future.as_mut(), 1);
    }
}

fn boxed(count: u32) -> Vec<Pin<Box<dyn Future<Output = ()> + Send>>> {
    (0..count)
        .map(|_| Box::pin(pauses()) as Pin<Box<dyn Future<Output = ()> + Send>>)
        .collect()
}

#[test]
fn future_that_another_thread_drops_is_no_call() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        let mut futures = boxed(500);
        first_polls(&mut futures);
        std::thread::spawn(|| drops(futures)).join().unwrap();
    });
    expect(
        &chains,
        &[
            ("drops", 1),
            ("first_polls", 1),
            ("first_polls > pauses", 0),
            ("first_polls > pauses > leaf", 500),
        ],
    );
    check(&report);
}

#[test]
fn future_that_moves_has_its_places() {
    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        let mut futures = boxed(500);
        first_polls(&mut futures);
        std::thread::spawn(move || {
            first_polls(&mut futures);
            first_polls(&mut futures);
        })
        .join()
        .unwrap();
    });
    expect(
        &chains,
        &[
            ("first_polls", 3),
            ("first_polls > pauses", 500),
            ("first_polls > pauses > leaf", 1500),
        ],
    );
    check(&report);
}

/// A future may complete on a thread on which none of its polls was measured.
#[test]
fn future_may_complete_where_no_poll_of_it_was_measured() {
    /// Is pending once. Its second poll ends a pause.
    struct Resumes(bool);

    impl Future for Resumes {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, _context: &mut TaskContext<'_>) -> Poll<()> {
            if !std::mem::replace(&mut self.0, true) {
                return Poll::Pending;
            }
            tsc_runtime::resume();
            Poll::Ready(())
        }
    }

    #[cycles(name = "moves")]
    async fn moves() {
        Resumes(false).await;
    }

    let _alone = ALONE.lock();
    let (chains, report) = chains(|| {
        type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;
        let poll = |future: &mut Boxed| {
            let mut context = TaskContext::from_waker(Waker::noop());
            future.as_mut().poll(&mut context).is_ready()
        };
        let mut future: Boxed = Box::pin(moves());
        assert!(!poll(&mut future));
        tsc_runtime::pause();
        let other = std::thread::spawn(move || poll(&mut future));
        assert!(other.join().expect("the poll does not panic"));
    });
    expect(&chains, &[("moves", 1)]);
    assert_eq!(report.callsite("moves").map(|row| row.calls()), Some(1));
}
