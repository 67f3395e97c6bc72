use tsc_runtime::cycles;

#[cycles(bytes = text)]
fn parse(text: &str) -> usize {
    text.len()
}

fn main() {
    parse("");
}
