use tsc_runtime::{start, stop};

fn main() {
    let section = start!("parse");
    std::thread::spawn(move || stop!(section));
}
