#[cycles(per_type)]
fn convert<T: Into<u64>>(value: T) -> u64 {
    value.into()
}
