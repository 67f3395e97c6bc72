//! What the tools here share: other people's crates, fetched by cargo and copied.

#![forbid(unsafe_code)]

pub mod cargo;
pub mod fetch;
pub mod programs;
pub mod project;
