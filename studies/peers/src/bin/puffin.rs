//! puffin: `profile_function!`, a frame for each series of calls, and the view that its own viewer uses.

#[path = "../frames.rs"]
mod frames;

macro_rules! scope {
    ($name:literal) => {
        puffin::profile_function!();
    };
}

peers::annotate!(scope);

fn main() {
    peers::run::<frames::Frames>(&FUNCTIONS);
}
