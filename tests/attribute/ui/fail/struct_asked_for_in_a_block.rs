use tsc_runtime::cycles;

#[cycles]
mod parser {
    #[cycles]
    pub struct Parser;
}

fn main() {
    let _ = parser::Parser;
}
