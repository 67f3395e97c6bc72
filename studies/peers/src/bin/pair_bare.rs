//! `rdtsc` … `rdtsc`, without recording anything.

use peers::pair::{Bare, Kept};

fn main() {
    peers::run::<Kept<Bare>>(&Kept::<Bare>::FUNCTIONS);
}
