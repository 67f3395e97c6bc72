//! The terminal that standard error may be.

use std::env;
use std::io::{IsTerminal, stderr};

/// The terminal's columns. `None` if standard error is not a terminal, or if the size is unknown.
#[cfg(all(unix, not(miri)))]
pub(super) fn width() -> Option<usize> {
    // SAFETY: a size may be all zeros.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes the size to a variable of the correct type.
    let failed = unsafe { libc::ioctl(2, libc::TIOCGWINSZ, &raw mut size) } != 0;
    (!failed && size.ws_col != 0).then(|| usize::from(size.ws_col))
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
