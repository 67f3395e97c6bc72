//! The future that `#[cycles]` puts around the body of an async function.

use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::probe::Slot;
use crate::probe::polls::{FutureTotals, PollProbe};
use crate::record::callsite::Callsite;
use crate::tsc::FencePolicy;
use crate::tsc::escape::result;

/// Measures each poll of a future, and records them together as one call.
#[derive(Debug)]
#[must_use]
pub struct Polled<A, F> {
    /// The future, which is dropped before the account.
    future: F,
    account: A,
}

/// What is known of a future's polls. It notes when it is dropped that the future is, complete or not. If `Polled` itself had a destructor,
/// the future's type would have to outlive what it borrows.
pub trait Account {
    /// The measurement of a running poll.
    type Probe<'a>
    where
        Self: 'a;

    /// Starts to measure a poll. The probe is returned, because a function around the poll would be in every backtrace.
    fn start<'a>(&'a mut self, slot: &'a mut Slot) -> Self::Probe<'a>;

    /// The future is ready or has panicked.
    fn complete(&mut self);
}

impl<A: Account, F: Future> Polled<A, F> {
    pub(crate) const fn new(account: A, future: F) -> Self {
        Self { future, account }
    }
}

impl<A: Account, F: Future> Future for Polled<A, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved. The account may be moved, because nothing points into it.
        let (future, account) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &mut this.account)
        };
        let mut ending = Ending {
            account,
            is_pending: false,
        };
        let polled = {
            let mut slot = Slot::new();
            let _probe = ending.account.start(&mut slot);
            result(future.poll(context))
        };
        ending.is_pending = polled.is_pending();
        polled
    }
}

/// The end of a poll, which may be a panic.
struct Ending<'a, A: Account> {
    account: &'a mut A,
    is_pending: bool,
}

impl<A: Account> Drop for Ending<'_, A> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_pending {
            self.account.complete();
        }
    }
}

/// The account of timed polls. `C` returns the callsite. It is a closure without captures, so it takes no room in the future.
#[derive(Debug)]
pub struct TimedPolls<P, C: Fn() -> &'static Callsite> {
    call: FutureTotals,
    callsite: C,
    pair: PhantomData<fn() -> P>,
}

/// Wraps `future`.
#[inline]
pub const fn polled<P, C, F>(callsite: C, future: F) -> Polled<TimedPolls<P, C>, F>
where
    P: FencePolicy,
    C: Fn() -> &'static Callsite,
    F: Future,
{
    let account = TimedPolls {
        call: FutureTotals::new(),
        callsite,
        pair: PhantomData,
    };
    Polled::new(account, future)
}

impl<P: FencePolicy, C: Fn() -> &'static Callsite> Account for TimedPolls<P, C> {
    type Probe<'a>
        = PollProbe<'a, P>
    where
        Self: 'a;

    #[inline(always)]
    fn start<'a>(&'a mut self, slot: &'a mut Slot) -> PollProbe<'a, P> {
        PollProbe::begin((self.callsite)(), slot, &mut self.call)
    }

    #[inline]
    fn complete(&mut self) {
        self.call.complete((self.callsite)());
    }
}

impl<P, C: Fn() -> &'static Callsite> Drop for TimedPolls<P, C> {
    #[inline]
    fn drop(&mut self) {
        self.call.cancel((self.callsite)());
    }
}
