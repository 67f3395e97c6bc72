//! `minstant::Instant`, twice.

use minstant::Instant;
use peers::pair::{Kept, Pair};

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
