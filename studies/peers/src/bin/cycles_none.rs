//! This crate, with `fence = "none"`.

#[path = "../cycles.rs"]
mod cycles;

peers::annotate!(#[tsc_runtime::cycles(fence = "none")]);

fn main() {
    peers::run::<cycles::Cycles>(&FUNCTIONS);
}
