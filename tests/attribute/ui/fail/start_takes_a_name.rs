use tsc_runtime::{start, stop};

fn main() {
    let name = "parse";
    let section = start!(name);
    stop!(section);
    let section = start!("parse", policy = "none");
    stop!(section);
    let section = start!();
    stop!(section);
    stop!(section, "parse");
}
