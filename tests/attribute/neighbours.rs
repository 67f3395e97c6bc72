//! Other attributes on the same function, before and after `#[cycles]`, and on the block around it.

#![deny(warnings)]

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use tsc_runtime::cycles;

fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return output;
        }
    }
}

#[async_trait]
trait Fetch: Send + Sync {
    async fn fetch(&self, name: &str) -> Result<String, std::fmt::Error>;

    #[cycles(name = "default body under async_trait")]
    async fn twice(&self, name: &str) -> Result<String, std::fmt::Error> {
        let first = self.fetch(name).await?;
        Ok(first + &self.fetch(name).await?)
    }
}

struct Inner;
struct Outer;
struct Under;

#[async_trait]
impl Fetch for Inner {
    #[cycles(name = "fn under async_trait")]
    async fn fetch(&self, name: &str) -> Result<String, std::fmt::Error> {
        tokio::task::yield_now().await;
        Ok(name.to_owned())
    }
}

#[cycles(name = "impl over async_trait")]
#[async_trait]
impl Fetch for Outer {
    async fn fetch(&self, name: &str) -> Result<String, std::fmt::Error> {
        if name.is_empty() {
            return Err(std::fmt::Error);
        }
        Ok(name.to_owned())
    }
}

#[async_trait]
#[cycles(name = "impl under async_trait")]
impl Fetch for Under {
    async fn fetch(&self, mut name: &str) -> Result<String, std::fmt::Error> {
        name = name.trim();
        Ok(name.to_owned())
    }
}

#[tracing::instrument]
#[cycles]
fn under_instrument(number: u32) -> u32 {
    number + 1
}

#[cycles]
#[tracing::instrument(skip(number))]
fn over_instrument(number: u32) -> u32 {
    number + 1
}

#[cycles]
#[tracing::instrument(skip(naked))]
fn over_instrument_of_naked(naked: u32) -> u32 {
    naked + 1
}

#[tracing::instrument]
#[cycles]
async fn future_under_instrument(number: u32) -> u32 {
    tokio::task::yield_now().await;
    number + 1
}

#[cycles]
#[tracing::instrument]
async fn future_over_instrument(number: u32) -> u32 {
    tokio::task::yield_now().await;
    number + 1
}

#[tokio::main(flavor = "current_thread")]
#[cycles]
async fn under_tokio_main() -> u32 {
    tokio::task::yield_now().await;
    3
}

#[cycles]
#[tokio::main(flavor = "current_thread")]
async fn over_tokio_main() -> u32 {
    tokio::task::yield_now().await;
    3
}

#[tokio::test]
#[cycles]
async fn under_tokio_test() {
    assert_eq!(future_under_instrument(1).await, 2);
}

#[cycles]
#[tokio::test]
async fn over_tokio_test() {
    assert_eq!(future_over_instrument(1).await, 2);
}

#[cycles]
#[unsafe(no_mangle)]
extern "C" fn tsc_runtime_neighbour(number: u32) -> u32 {
    number + 1
}

#[cycles]
unsafe fn dereferences(number: *const u32) -> u32 {
    // SAFETY: guaranteed by the caller: the pointer is valid for reads.
    unsafe { *number }
}

#[cycles]
async unsafe fn dereferences_later(number: *const u32) -> u32 {
    // SAFETY: guaranteed by the caller: the pointer is valid for reads when the future is polled.
    unsafe { *number }
}

/// Taken by tests that call the functions of `Fetch`, because one of them compares counts of calls and polls.
static FETCHES: Mutex<()> = Mutex::new(());

#[test]
fn every_order_does_what_it_did() {
    let _alone = FETCHES.lock().unwrap_or_else(PoisonError::into_inner);
    let fetchers: [Box<dyn Fetch>; 3] = [Box::new(Inner), Box::new(Outer), Box::new(Under)];
    for fetcher in fetchers {
        let twice = std::thread::spawn(move || run(fetcher.twice("a"))).join();
        assert_eq!(twice.ok(), Some(Ok("aa".to_owned())));
    }
    assert_eq!(run(Outer.fetch("")), Err(std::fmt::Error));
    assert_eq!((under_instrument(1), over_instrument(1)), (2, 2));
    assert_eq!(over_instrument_of_naked(1), 2);
    // SAFETY: these are the addresses of numbers that live long enough.
    let both = unsafe { (dereferences(&3), run(dereferences_later(&4))) };
    assert_eq!((tsc_runtime_neighbour(1), both), (2, (3, 4)));
    assert_eq!((under_tokio_main(), over_tokio_main()), (3, 3));
}

/// Each function is measured once, as a future. The call that creates the future is not measured.
#[test]
fn async_trait_is_measured_by_poll() {
    let _alone = FETCHES.lock().unwrap_or_else(PoisonError::into_inner);
    let polls = |name: &str| {
        let report = tsc_runtime::snapshot();
        let row = report.callsites().iter().find(|row| row.name() == name);
        row.map(|row| (row.calls(), row.polls()))
    };
    let _ = run(Inner.fetch("one"));
    let _ = run(Under.fetch("one"));
    let (calls, inner) = polls("fn under async_trait").unwrap();
    assert_eq!(inner, Some(calls * 2));
    assert!(polls("impl under async_trait::fetch").is_some_and(|(_, polls)| polls.is_some()));
}
