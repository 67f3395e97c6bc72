use tsc_runtime::cycles;

#[cycles(name = 3, fence = "fast", size = 4, name = "")]
fn parse() {}

fn main() {
    parse();
}
