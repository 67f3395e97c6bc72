use tsc_runtime::{start, stop};

macro_rules! measured {
    ($fence:literal) => {
        let section = start!("parse", fence = $fence);
        stop!(section);
    };
}

fn main() {
    measured!("none");
}
