use tsc_runtime::{cycles_block, start, stop};

fn main() {
    cycles_block!("parse", fence = "rdtsk", {});
    let section = start!("print", fence = serial);
    stop!(section);
}
