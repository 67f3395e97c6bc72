//! What a thread keeps for its light probes: the numbers of calls, the frames of the running ones, and the time of each chain of them.

mod account;
mod frame;
mod owned;
mod path_sums;
mod paths;
mod rows;
mod thread;

pub(crate) use account::{Lengths, Passed, Rest};
pub use frame::Frame;
pub(crate) use frame::{Place, Who};
pub(crate) use owned::{LightRecord, LightSums};
pub(crate) use path_sums::PathSums;
pub(crate) use paths::{PathTotals, Paths, ROOT};
pub(crate) use rows::{Counts, Row};
pub(crate) use thread::{LightThread, in_register, this};
