use tsc_runtime::cycles;

#[cycles(record = ids)]
fn sum(ids: &[u32]) -> u32 {
    ids.iter().sum()
}

fn main() {
    sum(&[1]);
}
