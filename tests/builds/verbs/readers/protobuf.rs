//! Reads encoded protocol buffers without a schema. This code is independent of the code that writes them.

/// A field's value.
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Number(_) => panic!("a number instead of bytes"),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// The fields of a message with their numbers, in the order in which they were written.
pub(super) fn fields(mut message: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut message)),
            2 => {
                let length = varint(&mut message) as usize;
                let (bytes, rest) = message.split_at(length);
                message = rest;
                Value::Bytes(bytes)
            }
            kind => panic!("a value of kind {kind}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

/// All values of a repeated field of numbers, which may be packed into one.
pub(super) fn numbers(message: &[u8], field: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for (number, value) in fields(message) {
        match value {
            _ if number != field => {}
            Value::Number(number) => numbers.push(number),
            Value::Bytes(mut packed) => {
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed));
                }
            }
        }
    }
    numbers
}

/// The value of a field. A missing field has the value 0.
pub(super) fn number(message: &[u8], field: u64) -> u64 {
    numbers(message, field).last().copied().unwrap_or(0)
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a number's end");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return number;
        }
    }
    panic!("a number of more than 64 bits")
}
