use tsc_runtime::cycles;

struct Parser;

#[cycles(bytes = text.len())]
impl Parser {
    fn parse(text: &str) -> usize {
        text.len()
    }
}

fn main() {
    Parser::parse("");
}
