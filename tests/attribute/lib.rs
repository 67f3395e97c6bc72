//! Tests of `#[cycles]` and the other macros. The code is in the test targets.
