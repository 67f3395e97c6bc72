//! Decides once which clock the process measures with.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::tsc::os_clock;
use crate::tsc::{self, FencePolicy, Ticks, TscUnavailable, Unfenced};

/// The result of the detection: 0 if there is none yet, otherwise one more than the index in [`ALL`]. This is not a lock or a once-cell,
/// because the child of a fork would wait for a thread that was detecting in its parent.
static AVAILABILITY: AtomicU8 = AtomicU8::new(0);

/// With the first [`READABLE`], the reads work: if the platform has no counter, they return nanoseconds.
const ALL: [Result<(), TscUnavailable>; 4] = [
    Ok(()),
    Err(TscUnavailable::NotOnThisPlatform),
    Err(TscUnavailable::MissingInstruction),
    Err(TscUnavailable::ForbiddenByPrctl),
];

const READABLE: u8 = 2;

/// Whether the counter may be read. The first caller detects it, or the first few callers at once.
///
/// # Errors
///
/// The reason why it may not be read.
pub(crate) fn availability() -> Result<(), TscUnavailable> {
    let place = usize::from(AVAILABILITY.load(Relaxed)).wrapping_sub(1);
    ALL.get(place).copied().unwrap_or_else(find_out)
}

/// The reason why this platform's counter may not be read. `None` if it may, and where the system's clock is in the place of a counter that
/// the platform does not have.
pub(crate) fn forbidden() -> Option<TscUnavailable> {
    let why = availability().err();
    why.filter(|&why| why != TscUnavailable::NotOnThisPlatform)
}

#[cold]
fn find_out() -> Result<(), TscUnavailable> {
    let availability = tsc::detect();
    let place = ALL.iter().position(|known| *known == availability);
    let place = place.expect("ALL has every variant") as u8;
    #[cfg(not(shuttle))]
    if place >= READABLE {
        crate::sync::never_park();
    }
    AVAILABILITY.store(place + 1, Relaxed);
    availability
}

/// Whether the operating system's clock replaces the counter, because reading the counter would kill the process. Always false before the
/// first call of [`availability`].
pub(crate) fn is_os_clock() -> bool {
    AVAILABILITY.load(Relaxed) > READABLE
}

/// The same, for whoever may be the first that reads the counter.
pub(crate) fn detect_os_clock() -> bool {
    availability().is_err() && is_os_clock()
}

/// The clock in use at a start, with the fences of `P` if it is the counter.
#[inline(always)]
pub(crate) fn at_start<P: FencePolicy>() -> Ticks {
    if is_os_clock() { now() } else { P::start() }
}

/// The same at a stop.
#[inline(always)]
pub(crate) fn at_stop<P: FencePolicy>() -> Ticks {
    if is_os_clock() { now() } else { P::stop() }
}

/// Reads the clock in use without fences, for times that are too long to need them.
pub(crate) fn now() -> Ticks {
    if detect_os_clock() {
        os_clock::now()
    } else {
        Unfenced::start()
    }
}
