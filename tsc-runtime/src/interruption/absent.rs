//! Systems on which no cheap detector is known.

/// A value that the word never has here.
#[inline(always)]
pub(super) fn descriptor() -> u64 {
    u64::MAX
}

const ELSEWHERE: &str = "a thread can detect its interruptions on x86 Linux only";

pub(super) fn attach() -> Result<*mut u64, &'static str> {
    Err(ELSEWHERE)
}

pub(super) fn detach() {}

pub(super) fn unavailable() -> Option<&'static str> {
    Some(ELSEWHERE)
}
