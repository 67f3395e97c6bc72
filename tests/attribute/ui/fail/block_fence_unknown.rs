use tsc_runtime::cycles_block;

fn main() {
    cycles_block!("parse", fence = "rdtsk", {});
}
