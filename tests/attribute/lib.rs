//! Tests of `#[cycles]` and the macros beside it; the code is in the test targets.
