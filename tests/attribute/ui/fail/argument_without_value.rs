use tsc_runtime::cycles;

#[cycles(name)]
fn parse() {}

#[cycles(name = , bytes = , crate =)]
fn parse_lines(lines: &[u8]) -> usize {
    lines.len()
}

fn main() {
    parse();
    parse_lines(&[]);
}
