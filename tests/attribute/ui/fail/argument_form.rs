use tsc_runtime::cycles;

#[cycles(3, name = "parse" fence = "none", per_type = true, skip("now"), = "none")]
fn parse() {}

#[cycles(light name = "parse_all")]
fn parse_all() {}

fn main() {
    parse();
    parse_all();
}
