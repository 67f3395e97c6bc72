//! Systems on which threads have no real-time class here.

use crate::affinity::AffinityError;

/// Nothing to restore.
#[derive(Debug)]
pub(super) struct Class;

pub(super) fn enter() -> Result<Class, AffinityError> {
    if cfg!(measuring) {
        return Err(AffinityError::Unsupported {
            why: "a real-time class is implemented for Linux and Windows only",
        });
    }
    Ok(Class)
}

pub(super) fn restore(_: &Class) {}
