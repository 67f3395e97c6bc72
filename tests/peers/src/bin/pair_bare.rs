//! `rdtsc` … `rdtsc`, and nothing recorded.

use peers::pair::{Bare, Kept};

fn main() {
    peers::run::<Kept<Bare>>(&Kept::<Bare>::FUNCTIONS);
}
