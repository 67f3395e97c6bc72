use tsc_runtime::gclk;

fn main() {
    gclk!();
}
