use tsc_runtime::cycles;

#[cycles(name = "parse", fence = "none", name = "read")]
fn parse() {}

fn main() {
    parse();
}
