//! This crate, with `fence = "rdtscp"`.

#[path = "../cycles.rs"]
mod cycles;

peers::annotate!(#[tsc_runtime::cycles(fence = "rdtscp")]);

fn main() {
    peers::run::<cycles::Cycles>(&FUNCTIONS);
}
