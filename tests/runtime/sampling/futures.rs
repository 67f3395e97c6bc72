//! Sampled `async` functions.

use std::future::{self, Future as _};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tsc_runtime::cycles;

/// A future that is pending twice. The test polls it itself.
async fn thrice() {
    let mut left = 2;
    future::poll_fn(|_| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        Poll::Pending
    })
    .await;
}

#[test]
fn futures_are_timed_or_counted_whole() {
    #[cycles(name = "sampled future", sample = 8)]
    async fn future() {
        thrice().await;
    }
    const FUTURES: u64 = 800;
    const DROPPED: u64 = 200;
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..FUTURES {
        let mut future = pin!(future());
        while future.as_mut().poll(&mut context).is_pending() {}
    }
    for _ in 0..DROPPED {
        assert!(pin!(future()).as_mut().poll(&mut context).is_pending());
    }
    let row = tests::row("sampled future");
    assert_eq!(row.calls(), FUTURES);
    // The timed futures stand for all futures that were polled.
    let timed = row.timed().expect("not all were timed");
    assert!(timed.abs_diff(super::timed_of(FUTURES, 8)) <= 3, "{timed}");
    let polls = row.polls().expect("the function is async");
    let expected = 3 * FUTURES + DROPPED;
    assert!(polls.abs_diff(expected) < expected / 10, "{polls}");
}

/// While a call runs that stands for several, the polls of all futures inside it are timed for its self ticks. These are no samples.
#[test]
fn futures_are_counted_in_calls_that_stand_for_several() {
    #[cycles(name = "sampled future, inside", sample = 8)]
    async fn future() {
        thrice().await;
    }
    #[cycles(name = "polls futures", sample = 4)]
    fn poll_to_end() {
        let mut future = pin!(future());
        let mut context = Context::from_waker(Waker::noop());
        while future.as_mut().poll(&mut context).is_pending() {}
        assert!(
            pin!(future_that_is_dropped())
                .as_mut()
                .poll(&mut context)
                .is_pending()
        );
    }
    #[cycles(name = "dropped future, inside", sample = 8)]
    async fn future_that_is_dropped() {
        thrice().await;
    }
    const FUTURES: u64 = 800;
    (0..FUTURES).for_each(|_| poll_to_end());
    let row = tests::row("sampled future, inside");
    assert_eq!((row.calls(), row.cancelled()), (FUTURES, Some(0)));
    let timed = row.timed().expect("not all were timed");
    assert!(timed.abs_diff(super::timed_of(FUTURES, 8)) <= 3, "{timed}");
    let polls = row.polls().expect("the function is async");
    assert!(polls.abs_diff(3 * FUTURES) < 3 * FUTURES / 10, "{polls}");
    let row = tests::row("dropped future, inside");
    assert_eq!((row.calls(), row.cancelled()), (0, Some(FUTURES)));
}
