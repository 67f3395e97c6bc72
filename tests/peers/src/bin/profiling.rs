//! profiling: `#[profiling::function]`, with puffin behind it.

#[path = "../frames.rs"]
mod frames;

peers::annotate!(#[profiling::function]);

fn main() {
    peers::run::<frames::Frames>(&FUNCTIONS);
}
