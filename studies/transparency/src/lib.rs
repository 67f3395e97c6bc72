//! What several tools here use: crates from the public registry, fetched by cargo and copied.

#![forbid(unsafe_code)]

pub mod cargo;
pub mod fetch;
pub mod programs;
pub mod project;
