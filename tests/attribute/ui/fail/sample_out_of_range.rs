use tsc_runtime::cycles;

#[cycles(sample = 0)]
fn none() {}

#[cycles(sample = 4097)]
fn too_many() {}

#[cycles(sample = "auto")]
fn no_number() {}

#[cycles(sample)]
fn no_value() {}

fn main() {}
