//! The floor: `lfence; rdtsc; lfence` … `rdtscp; lfence`, without recording anything.

use peers::pair::{Kept, Standard};

fn main() {
    peers::run::<Kept<Standard>>(&Kept::<Standard>::FUNCTIONS);
}
