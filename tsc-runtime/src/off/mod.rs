//! The public functions for builds in which nothing is measured.

#![cfg(not(measuring))]

#[cfg(not(target_os = "none"))]
mod with_std;
#[cfg(target_os = "none")]
mod without_std;

#[cfg(not(target_os = "none"))]
pub use with_std::{
    Session, dump_to, gclk_to, pause, report, reset, resume, session, snapshot, take, tree,
};
#[cfg(target_os = "none")]
pub use without_std::{pause, report, reset, resume, tree};
