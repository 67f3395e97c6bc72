//! `rdtsc` … `rdtsc`, and nothing recorded.

use peers::pair::{Kept, Bare};

fn main() {
    peers::run::<Kept<Bare>>(&Kept::<Bare>::FUNCTIONS);
}
