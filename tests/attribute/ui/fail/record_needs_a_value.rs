use tsc_runtime::cycles;

#[cycles(record)]
fn find(id: u32) -> u32 {
    id
}

fn main() {
    find(1);
}
