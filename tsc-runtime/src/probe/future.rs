//! The future that `#[cycles]` puts around the body of an async function.

use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::probe::Slot;
use crate::probe::polls::{FutureTotals, PollProbe};
use crate::record::callsite::Callsite;
use crate::tsc::{FencePolicy, result};

/// Measures each poll of a future, and records them together as one call. `C` returns the callsite. It is a closure without captures, so it
/// takes no room in the future.
#[derive(Debug)]
#[must_use]
pub struct Polled<P, C: Fn() -> &'static Callsite, F> {
    /// The future, which is dropped before the account is closed.
    future: F,
    account: Account<C>,
    pair: PhantomData<fn() -> P>,
}

/// The account is a field of its own with its own destructor. If `Polled` itself had a destructor, the future's type would have to outlive
/// what it borrows.
#[derive(Debug)]
struct Account<C: Fn() -> &'static Callsite> {
    call: FutureTotals,
    callsite: C,
}

/// Wraps `future`.
#[inline]
pub const fn polled<P: FencePolicy, C, F>(callsite: C, future: F) -> Polled<P, C, F>
where
    C: Fn() -> &'static Callsite,
    F: Future,
{
    let account = Account {
        call: FutureTotals::new(),
        callsite,
    };
    Polled {
        future,
        account,
        pair: PhantomData,
    }
}

impl<P: FencePolicy, C: Fn() -> &'static Callsite, F: Future> Future for Polled<P, C, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved. The account may be moved, because nothing points into it.
        let (future, account) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &mut this.account)
        };
        let callsite = (account.callsite)();
        let mut ending = Ending {
            account,
            pending: false,
        };
        let polled = {
            let mut slot = Slot::new();
            let _probe = PollProbe::<P>::start(callsite, &mut ending.account.call, &mut slot);
            result(future.poll(context))
        };
        ending.pending = polled.is_pending();
        polled
    }
}

/// The call is complete when the future is ready or has panicked.
struct Ending<'a, C: Fn() -> &'static Callsite> {
    account: &'a mut Account<C>,
    pending: bool,
}

impl<C: Fn() -> &'static Callsite> Drop for Ending<'_, C> {
    #[inline]
    fn drop(&mut self) {
        if !self.pending {
            self.account.call.complete((self.account.callsite)());
        }
    }
}

impl<C: Fn() -> &'static Callsite> Drop for Account<C> {
    #[inline]
    fn drop(&mut self) {
        self.call.cancel((self.callsite)());
    }
}
