//! Systems other than Linux on x86. Interruptions are not detected there, so timed calls do not ask. The account of light probes asks at
//! each tick of its clock how long the thread has run; how long it has waited is not known.

use super::reading::Statistics;
use crate::process::cpu_time;
use crate::tsc::{Ticks, clock};

#[derive(Debug)]
pub(super) struct Kernel;

#[allow(clippy::unused_self)] // as on Linux
impl Kernel {
    pub(super) const fn new() -> Self {
        Self
    }

    pub(super) fn attach(&mut self) {}

    pub(super) fn detach(&mut self) {}

    pub(super) fn read_clock(&mut self) -> Option<(Ticks, u64)> {
        Some((clock::now(), cpu_time::of_thread()?))
    }

    pub(super) fn read_statistics(&mut self, _cpu_ns: u64) -> Option<Statistics> {
        None
    }
}

pub(super) fn clock_is_fine() -> Result<(), &'static str> {
    let known = cpu_time::of_thread().map(drop);
    known.ok_or("the system does not tell how long a thread has run")
}
