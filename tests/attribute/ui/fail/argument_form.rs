use tsc_runtime::cycles;

#[cycles(3, name = "parse" fence = "none", per_type = true, skip("now"), = "none")]
fn parse() {}

fn main() {
    parse();
}
