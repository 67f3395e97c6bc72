//! The functions without a profiler.

use peers::{Contestant, Readings};

peers::annotate!(#[allow(clippy::inline_always)]);

struct Bare;

impl Contestant for Bare {
    fn start() -> Self {
        Self
    }

    fn report(self) -> Readings {
        Readings::default()
    }
}

fn main() {
    peers::run::<Bare>(&FUNCTIONS);
}
