//! Which clock the process measures with, decided once.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use once_cell::sync::OnceCell;

use crate::tsc::os_clock;
use crate::tsc::{self, FencePolicy, Ticks, TscUnavailable, Unfenced};

static AVAILABILITY: OnceCell<Result<(), TscUnavailable>> = OnceCell::new();
static SLOW: AtomicBool = AtomicBool::new(false);

/// Whether the counter may be read; found out by the first caller.
///
/// # Errors
///
/// Why it may not.
pub(crate) fn availability() -> Result<(), TscUnavailable> {
    *AVAILABILITY.get_or_init(|| {
        let availability = tsc::detect();
        // Where the platform has no counter, the reads count nanoseconds by themselves.
        let slow = availability.is_err_and(|why| why != TscUnavailable::NotOnThisPlatform);
        SLOW.store(slow, Relaxed);
        availability
    })
}

/// Whether executing a read of the counter would kill the process, so that the operating system's clock stands in for it.
/// Known once [`availability`] has been asked.
pub(crate) fn is_os_clock() -> bool {
    SLOW.load(Relaxed)
}

/// The clock in use, unfenced: for what is too long to need fences.
pub(crate) fn now() -> Ticks {
    if availability().is_err() && is_os_clock() {
        os_clock::now()
    } else {
        Unfenced::start()
    }
}
