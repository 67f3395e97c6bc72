//! The fence floor: `lfence; rdtsc; lfence` … `rdtscp; lfence`, and nothing recorded.

use peers::pair::{Kept, Standard};

fn main() {
    peers::run::<Kept<Standard>>(&Kept::<Standard>::FUNCTIONS);
}
