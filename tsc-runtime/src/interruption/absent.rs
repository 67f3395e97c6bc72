//! Systems on which no cheap detector is known.

use super::DESCRIPTOR_COUNT;

/// Nothing but a number of addresses, which the clock of light probes needs.
#[derive(Debug)]
pub(crate) struct Descriptor(#[allow(dead_code)] u64);

pub(crate) static DESCRIPTORS: [Descriptor; DESCRIPTOR_COUNT] =
    [const { Descriptor(0) }; DESCRIPTOR_COUNT];

const ELSEWHERE: &str = "a thread can detect its interruptions on x86 Linux only";

pub(super) fn attach() -> Result<*mut u64, &'static str> {
    Err(ELSEWHERE)
}

pub(super) fn detach() {}

pub(super) fn unavailable() -> Option<&'static str> {
    Some(ELSEWHERE)
}
