//! tinyjson: a document is parsed and written again.

fn input() -> String {
    let mut rows = Vec::new();
    let mut state = 7_u64;
    for row in 0..1500 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = state >> 33;
        rows.push(format!(
            r#"{{"id": {row}, "name": "caf\u00e9 {}", "price": {}.{}e1, "tags": ["x", null, true, {random}], "nested": {{"k": "line\nbreak"}}}}"#,
            random % 1000,
            random % 97,
            random % 10
        ));
    }
    format!("[{}]", rows.join(","))
}

#[inline(never)]
fn root(text: &String) -> u64 {
    let value: tinyjson::JsonValue = text.parse().unwrap();
    value.stringify().unwrap().len() as u64
}
