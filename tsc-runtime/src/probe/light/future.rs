//! The future that `#[cycles(light)]` puts around the body of an async function.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::LightProbe;
use super::cold::count_future;
use crate::record::callsite::Callsite;
use crate::record::light::{Frame, Row};

/// Has a light probe around each poll of a future, and counts the future when it is done. `C` returns the callsite.
#[derive(Debug)]
#[must_use]
pub struct LightPolled<C: Fn() -> &'static Callsite, F> {
    /// The future, which is dropped before the account is closed.
    future: F,
    account: Account<C>,
}

/// A field of its own with its own destructor. If `LightPolled` itself had a destructor, the future's type would have to outlive what it
/// borrows.
#[derive(Debug)]
struct Account<C: Fn() -> &'static Callsite> {
    callsite: C,
    /// The future was polled and is not done.
    is_pending: bool,
}

/// Wraps `future`.
#[inline]
pub const fn light_polled<C, F>(callsite: C, future: F) -> LightPolled<C, F>
where
    C: Fn() -> &'static Callsite,
    F: Future,
{
    LightPolled {
        future,
        account: Account {
            callsite,
            is_pending: false,
        },
    }
}

impl<C: Fn() -> &'static Callsite, F: Future> Future for LightPolled<C, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved. The account may be moved, because nothing points into it.
        let (future, account) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.future), &mut this.account)
        };
        // A future that panics is done, too.
        account.is_pending = false;
        let mut ending = Ending {
            account,
            is_pending: false,
        };
        let polled = {
            let frame = Frame::new();
            let _probe = LightProbe::start_poll((ending.account.callsite)(), &frame);
            future.poll(context)
        };
        ending.is_pending = polled.is_pending();
        polled
    }
}

/// Closes the account at the end of a poll, which may be a panic.
struct Ending<'a, C: Fn() -> &'static Callsite> {
    account: &'a mut Account<C>,
    is_pending: bool,
}

impl<C: Fn() -> &'static Callsite> Drop for Ending<'_, C> {
    #[inline]
    fn drop(&mut self) {
        self.account.is_pending = self.is_pending;
        if !self.is_pending {
            count_future((self.account.callsite)(), Row::CALLS);
        }
    }
}

impl<C: Fn() -> &'static Callsite> Drop for Account<C> {
    #[inline]
    fn drop(&mut self) {
        if self.is_pending {
            count_future((self.callsite)(), Row::CANCELLED);
        }
    }
}
