use tsc_runtime::cycles_block;

fn main() {
    let name = "parse";
    cycles_block!(name, { 1 + 1 });
    cycles_block!("parse", 3 + 4);
    cycles_block!("parse", fence = "none", 3 + 4);
    cycles_block!("parse", [name], 3 + 4);
    cycles_block!("parse");
    cycles_block!();
}
