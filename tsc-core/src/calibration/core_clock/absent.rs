//! Stands in for a counter of core cycles where there is none.

pub(super) fn counter() -> Option<fn() -> Option<u64>> {
    None
}
