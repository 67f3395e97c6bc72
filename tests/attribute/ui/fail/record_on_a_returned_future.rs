use std::pin::Pin;

use tsc_runtime::cycles;

#[cycles(record = id)]
fn handle(id: u32) -> Pin<Box<dyn Future<Output = u32>>> {
    Box::pin(async move { id })
}

fn main() {
    drop(handle(1));
}
