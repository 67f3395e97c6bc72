//! The reads of the default fence policy: `lfence; rdtsc; lfence` … `lfence; rdtsc`, without recording anything.

use peers::pair::{Kept, Lean};

fn main() {
    peers::run::<Kept<Lean>>(&Kept::<Lean>::FUNCTIONS);
}
