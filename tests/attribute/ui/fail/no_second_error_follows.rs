use tsc_runtime::cycles;

struct Parser;

impl Parser {
    #[cycles(fence = "rdtsk")]
    fn parse(&self) -> u32 {
        3
    }
}

fn main() {
    let number: u32 = Parser.parse();
    assert_eq!(number, 3);
}
