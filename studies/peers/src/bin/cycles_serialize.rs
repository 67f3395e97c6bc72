//! This crate, with `fence = "serialize"`.

#[path = "../cycles.rs"]
mod cycles;

peers::annotate!(#[tsc_runtime::cycles(fence = "serialize")]);

fn main() {
    peers::run::<cycles::Cycles>(&FUNCTIONS);
}
