use tsc_runtime::cycles;

#[cycles]
const fn answer() -> u32 {
    42
}

const ANSWER: u32 = answer();

fn main() {
    assert_eq!(ANSWER, answer());
}
