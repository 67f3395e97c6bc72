//! This crate, with `fence = "lfence"`.

#[path = "../cycles.rs"]
mod cycles;

peers::annotate!(#[tsc_runtime::cycles(fence = "lfence")]);

fn main() {
    peers::run::<cycles::Cycles>(&FUNCTIONS);
}
