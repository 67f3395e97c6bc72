use tsc_runtime::cycles;

#[cycles(record = name.len())]
fn keep(name: String) -> String {
    name
}

fn main() {
    keep(String::new());
}
