//! Which clock the process measures with, decided once.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use crate::tsc::os_clock;
use crate::tsc::{self, FencePolicy, Ticks, TscUnavailable, Unfenced};

/// What was found out: 0 for nothing yet, and else one more than the place in [`ALL`]. No lock and no once-cell: the child of a fork
/// would wait for a thread that was about to find out in its parent.
static AVAILABILITY: AtomicU8 = AtomicU8::new(0);
static SLOW: AtomicBool = AtomicBool::new(false);

const ALL: [Result<(), TscUnavailable>; 4] = [
    Ok(()),
    Err(TscUnavailable::NotOnThisPlatform),
    Err(TscUnavailable::MissingInstruction),
    Err(TscUnavailable::ForbiddenByPrctl),
];

/// Whether the counter may be read; found out by the first caller, or by the first few at once.
///
/// # Errors
///
/// Why it may not.
pub(crate) fn availability() -> Result<(), TscUnavailable> {
    let known = AVAILABILITY.load(Relaxed);
    match ALL.get(usize::from(known).wrapping_sub(1)) {
        Some(&availability) => availability,
        None => find_out(),
    }
}

#[cold]
fn find_out() -> Result<(), TscUnavailable> {
    let availability = tsc::detect();
    // Where the platform has no counter, the reads count nanoseconds by themselves.
    let slow = availability.is_err_and(|why| why != TscUnavailable::NotOnThisPlatform);
    SLOW.store(slow, Relaxed);
    let place = ALL.iter().position(|known| *known == availability);
    let place = place.expect("ALL has every variant") as u8;
    AVAILABILITY.store(place + 1, Relaxed);
    availability
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
