//! The standard library's `Instant`, twice.

use peers::pair::{Kept, Pair};
use std::time::Instant;

struct Instants;

impl Pair for Instants {
    type Start = Instant;

    #[inline(always)]
    fn start() -> Instant {
        Instant::now()
    }

    #[inline(always)]
    fn stop(start: Instant) -> u64 {
        start.elapsed().as_nanos() as u64
    }
}

fn main() {
    peers::run::<Kept<Instants>>(&Kept::<Instants>::FUNCTIONS);
}
