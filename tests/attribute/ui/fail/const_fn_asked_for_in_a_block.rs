use tsc_runtime::cycles;

struct Answer;

#[cycles]
impl Answer {
    const fn passed_over() -> u32 {
        42
    }

    #[cycles(name = "asked")]
    const fn asked() -> u32 {
        42
    }
}

const ANSWER: u32 = Answer::passed_over() + Answer::asked();

fn main() {
    assert_eq!(ANSWER, 84);
}
