//! tokio with several threads: futures that move between them, block, are raced and aborted.

use std::future::pending;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::{spawn, spawn_blocking, yield_now};
use tsc_runtime::cycles;

use crate::made;

const TASKS: u64 = 300;
const YIELDS: u64 = 20;
const BLOCKING: u64 = 60;
const RACES: u64 = 500;
const ABORTED: u64 = 40;

#[cycles]
async fn step(value: u64) -> u64 {
    yield_now().await;
    value + 1
}

#[cycles]
async fn task(value: u64) -> u64 {
    let mut sum = value;
    for _ in 0..YIELDS {
        sum = step(sum).await;
    }
    sum
}

#[cycles]
fn blocking(value: u64) -> u64 {
    std::thread::sleep(Duration::from_micros(100));
    value
}

#[cycles]
async fn loses() {
    pending::<()>().await;
}

#[cycles]
async fn wins() {
    yield_now().await;
}

#[cycles]
async fn aborted(started: oneshot::Sender<()>) {
    started.send(()).expect("somebody waits for it");
    pending::<()>().await;
}

pub(crate) fn run() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(all());
    // Dropping the runtime drops the futures that are still running.
    drop(runtime);
}

async fn all() {
    let tasks: Vec<_> = (0..TASKS).map(|value| spawn(task(value))).collect();
    for task in tasks {
        task.await.expect("a task that completes");
    }
    made::calls("task", TASKS);
    made::calls("step", TASKS * YIELDS);

    let threads: Vec<_> = (0..BLOCKING)
        .map(|value| spawn_blocking(move || blocking(value)))
        .collect();
    for thread in threads {
        thread.await.expect("a blocking task that completes");
    }
    made::calls("blocking", BLOCKING);

    for _ in 0..RACES {
        // In this order, the loser of the race is polled before the winner is ready.
        tokio::select! {
            biased;
            () = loses() => unreachable!("it never completes"),
            () = wins() => {}
        }
    }
    made::calls("wins", RACES);
    made::cancelled("loses", RACES);

    for _ in 0..ABORTED {
        let (started, wait) = oneshot::channel();
        let task = spawn(aborted(started));
        wait.await.expect("the task starts");
        task.abort();
        assert!(task.await.is_err_and(|error| error.is_cancelled()));
    }
    made::cancelled("aborted", ABORTED);
}
