use tsc_runtime::cycles;

#[cycles(light, fence = "none")]
fn parse() {}

fn main() {
    parse();
}
