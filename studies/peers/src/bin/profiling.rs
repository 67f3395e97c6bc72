//! profiling: `#[profiling::function]`, with puffin as its backend.

#[path = "../frames.rs"]
mod frames;

peers::annotate!(#[profiling::function]);

fn main() {
    peers::run::<frames::Frames>(&FUNCTIONS);
}
