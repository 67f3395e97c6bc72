use tsc_runtime::cycles;

#[cycles(fence = lfence)]
fn parse() {}

fn main() {
    parse();
}
