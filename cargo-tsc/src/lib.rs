//! `cargo tsc` is a command: `cargo install cargo-tsc`. This library has what it shares with tools of its own repository. It is not covered by
//! semantic versioning.

#![forbid(unsafe_code)]

pub mod annotate;
pub mod html;
pub mod statistics;
#[cfg(test)]
mod test_files;
