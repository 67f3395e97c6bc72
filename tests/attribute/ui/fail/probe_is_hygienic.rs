use tsc_runtime::cycles;

#[cycles]
fn parse() {
    drop(__probe);
}

fn main() {
    parse();
}
