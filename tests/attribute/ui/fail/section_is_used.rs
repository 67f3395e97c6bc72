#![deny(unused_must_use)]

use tsc_runtime::start;

fn main() {
    start!("parse");
}
