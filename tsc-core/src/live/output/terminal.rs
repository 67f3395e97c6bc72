//! The terminal that standard error may be.

use std::env;
use std::io::{IsTerminal, stderr};

/// The terminal's columns. `None` if standard error is not a terminal, or if the size is unknown.
#[cfg(all(unix, not(miri)))]
pub(super) fn width() -> Option<usize> {
    // SAFETY: the call writes one size to the given address, if it returns 0.
    let size = unsafe { crate::process::written(|size| libc::ioctl(2, libc::TIOCGWINSZ, size)) };
    let columns = size.map(|size: libc::winsize| usize::from(size.ws_col));
    columns.filter(|&columns| columns != 0)
}

/// The columns are not determined here.
#[cfg(not(all(unix, not(miri))))]
pub(super) fn width() -> Option<usize> {
    None
}

/// Whether the terminal can show colours and the user wants them: <https://no-color.org>.
pub(super) fn has_colour() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR")
        && env::var_os("TERM").is_none_or(|term| term != "dumb")
        && stderr().is_terminal()
}
