use tsc_runtime::cycles;

trait Parse {
    #[cycles]
    fn parse(&self) -> u32;
}

impl Parse for u32 {
    fn parse(&self) -> u32 {
        *self
    }
}

fn main() {
    3.parse();
}
