//! This crate, with `fence = "mfence"`.

#[path = "../cycles.rs"]
mod cycles;

peers::annotate!(#[tsc_runtime::cycles(fence = "mfence")]);

fn main() {
    peers::run::<cycles::Cycles>(&FUNCTIONS);
}
