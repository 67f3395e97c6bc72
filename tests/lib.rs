//! Integration tests of the workspace; the code is in the test targets.
