use tsc_runtime::{start, stop};

fn main() {
    let section = start!("parse");
    stop!(section);
    stop!(section);
}
