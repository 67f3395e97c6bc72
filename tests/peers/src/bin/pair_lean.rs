//! The reads of the default fence policy: `lfence; rdtsc; lfence` … `lfence; rdtsc`, and nothing recorded.

use peers::pair::{Kept, Lean};

fn main() {
    peers::run::<Kept<Lean>>(&Kept::<Lean>::FUNCTIONS);
}
