//! What is known of the terminal that standard error may be.

use std::env;
use std::io::{IsTerminal, stderr};

/// Its columns; `None` if it is none, or does not say.
#[cfg(all(unix, not(miri)))]
pub(super) fn width() -> Option<usize> {
    // SAFETY: all zeros are a size of nothing.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: asks for the size, for which there is room.
    let failed = unsafe { libc::ioctl(2, libc::TIOCGWINSZ, &raw mut size) } != 0;
    (!failed && size.ws_col != 0).then(|| usize::from(size.ws_col))
}

/// Its columns; not asked for here.
#[cfg(not(all(unix, not(miri))))]
pub(super) fn width() -> Option<usize> {
    None
}

/// Whether it is one that colours, and its user wants that: <https://no-color.org>.
pub(super) fn has_colour() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR")
        && env::var_os("TERM").is_none_or(|term| term != "dumb")
        && stderr().is_terminal()
}
