//! This crate, with `fence = "cpuid"`.

#[path = "../cycles.rs"]
mod cycles;

peers::annotate!(#[tsc_runtime::cycles(fence = "cpuid")]);

fn main() {
    peers::run::<cycles::Cycles>(&FUNCTIONS);
}
