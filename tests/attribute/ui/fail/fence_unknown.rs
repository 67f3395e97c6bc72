use tsc_runtime::cycles;

#[cycles(fence = "rdtsk")]
fn parse() {}

fn main() {
    parse();
}
