use tsc_runtime::cycles;

#[cycles(name)]
fn parse() {}

fn main() {
    parse();
}
