//! Reports: any text that begins as one does, or else a real one, changed here and there as the bytes say.

#![no_main]

use serde_json::{Number, Value};
use tsc_fuzz::reports::{EXAMPLE, check};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with('{') => check(text),
        _ => {
            let mut report = serde_json::from_str(EXAMPLE).expect("it is JSON");
            let mut bytes = bytes.iter().copied();
            while let Some(what) = bytes.next() {
                edit(&mut report, what, &mut bytes);
            }
            check(&report.to_string());
        }
    }
});

/// The numbers at which something changes.
#[rustfmt::skip]
const NUMBERS: [&str; 20] = [
    "0", "1", "-1", "2", "63", "64", "0.5", "-0.0", "1e-300", "1e300", "-1e300", "1e99", "1000000000", "4294967296",
    "9007199254740993", "277076930199552", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
    "340282366920938463463374607431768211455",
];

/// Does something to what the bytes lead to.
fn edit(value: &mut Value, what: u8, bytes: &mut impl Iterator<Item = u8>) {
    let next = usize::from(bytes.next().unwrap_or(0));
    match value {
        Value::Array(list) if !list.is_empty() && next != 255 => {
            let at = next % list.len();
            match what {
                0 => _ = list.remove(at),
                1 => list.insert(at, list[at].clone()),
                2 => list.rotate_left(at),
                3 => list.push(list[at].clone()),
                _ => edit(&mut list[at], what, bytes),
            }
        }
        Value::Object(fields) if !fields.is_empty() && next != 255 => {
            let at = next % fields.len();
            let (_, field) = fields.iter_mut().nth(at).expect("there are so many");
            edit(field, what, bytes);
        }
        _ => *value = other(what, next, bytes),
    }
}

fn other(what: u8, next: usize, bytes: &mut impl Iterator<Item = u8>) -> Value {
    match what % 8 {
        0 => Value::Null,
        1 => Value::Bool(next % 2 == 0),
        2 => Value::String(NUMBERS[next % NUMBERS.len()].to_owned()),
        3 => Value::String(bytes.by_ref().take(next % 100).map(char::from).collect()),
        4 => Value::Array(Vec::new()),
        5 => {
            let mut of = [0; 8];
            of.iter_mut()
                .for_each(|byte| *byte = bytes.next().unwrap_or(0));
            let number = Number::from_f64(f64::from_le_bytes(of)).filter(|_| next % 2 == 0);
            Value::Number(number.unwrap_or_else(|| u64::from_le_bytes(of).into()))
        }
        // As text, for they are of all sizes.
        _ => serde_json::from_str(NUMBERS[next % NUMBERS.len()]).expect("a number"),
    }
}
