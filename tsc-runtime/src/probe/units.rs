//! Throughput: how many bytes or items a call works on.

use crate::record::callsite::Callsite;
use crate::registry;

/// Adds to the callsite's count when it is dropped, which is after the stop: counting is no part of what is measured, and the call's
/// record exists by then.
#[derive(Debug)]
pub struct Units {
    callsite: &'static Callsite,
    count: u64,
}

impl Units {
    /// `bytes = count` or `items = count`.
    #[inline]
    #[must_use]
    pub fn new(callsite: &'static Callsite, count: impl Count) -> Self {
        Self {
            callsite,
            count: count.count(),
        }
    }
}

impl Drop for Units {
    #[inline]
    fn drop(&mut self) {
        add(self.callsite, self.count);
    }
}

/// The same for a future, inside its first poll.
#[inline]
pub fn add_units(callsite: &'static Callsite, count: impl Count) {
    add(callsite, count.count());
}

#[inline(never)]
fn add(callsite: &'static Callsite, count: u64) {
    registry::with_record(callsite, |record| record.add_units(count));
}

/// What `bytes = …` and `items = …` may be: an integer. A negative one counts nothing.
#[diagnostic::on_unimplemented(
    message = "`bytes = …` and `items = …` count with an integer, not with `{Self}`",
    label = "expected an integer"
)]
pub trait Count {
    /// The integer.
    fn count(self) -> u64;
}

macro_rules! count {
    ($($integer:ty)*) => {$(
        impl Count for $integer {
            #[inline]
            fn count(self) -> u64 {
                u64::try_from(self).unwrap_or(0)
            }
        }
    )*};
}

count!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
