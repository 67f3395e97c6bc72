use tsc_runtime::cycles;

#[cycles("parse a line")]
fn parse() {}

fn main() {
    parse();
}
