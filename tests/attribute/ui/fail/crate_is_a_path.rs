use tsc_runtime::cycles;

#[cycles(crate = "tsc_runtime")]
fn parse(text: &str) -> usize {
    text.len()
}

fn main() {
    parse("");
}
