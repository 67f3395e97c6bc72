use tsc_runtime::cycles;

#[cycles(fense = "none")]
fn parse() {}

fn main() {
    parse();
}
