//! The future that `#[cycles(light)]` puts around the body of an async function.

use core::future::Future;

use super::LightProbe;
use super::cold::count;
use crate::probe::Slot;
use crate::probe::future::{Account, Polled};
use crate::record::callsite::Callsite;
use crate::record::light::Row;

/// The account of polls with light probes. `C` returns the callsite.
#[derive(Debug)]
pub struct LightPolls<C: Fn() -> &'static Callsite> {
    callsite: C,
    /// The future was polled and is not done.
    is_pending: bool,
}

/// Wraps `future`.
#[inline]
pub const fn light_polled<C, F>(callsite: C, future: F) -> Polled<LightPolls<C>, F>
where
    C: Fn() -> &'static Callsite,
    F: Future,
{
    let account = LightPolls {
        callsite,
        is_pending: false,
    };
    Polled::new(account, future)
}

impl<C: Fn() -> &'static Callsite> Account for LightPolls<C> {
    type Probe<'a>
        = LightProbe<'a>
    where
        Self: 'a;

    #[inline(always)]
    fn start<'a>(&'a mut self, slot: &'a mut Slot) -> LightProbe<'a> {
        self.is_pending = true;
        LightProbe::start_as::<{ Row::POLLS }>((self.callsite)(), &slot.frame)
    }

    #[inline]
    fn complete(&mut self) {
        self.is_pending = false;
        count((self.callsite)(), Row::CALLS, 1);
    }
}

impl<C: Fn() -> &'static Callsite> Drop for LightPolls<C> {
    #[inline]
    fn drop(&mut self) {
        if self.is_pending {
            count((self.callsite)(), Row::CANCELLED, 1);
        }
    }
}
