//! Writes data as JSON. Not with serde, because every crate that is measured would see what serde_json implements for the standard library's
//! types, and may then not compile: with `impl PartialEq<Value> for u32`, `n == m.into()` is ambiguous. Nor does a program that is measured
//! wait for these crates. Reading needs them, and is the work of other programs.

use std::fmt::Write as _;

use super::{MetaMap, RecordedValue, Report, SumOfSquares, WholeTicks};

/// What a report consists of.
pub(crate) trait Json {
    /// Appends the value.
    fn write(&self, out: &mut String);
}

impl Report {
    /// What the feature `json` calls `to_json`. The runtime writes its reports with it, which needs no feature.
    #[doc(hidden)]
    #[must_use]
    pub fn as_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Appends an object.
pub(crate) fn object<'a>(
    out: &mut String,
    fields: impl IntoIterator<Item = (&'a str, &'a dyn Json)>,
) {
    out.push('{');
    for (number, (name, value)) in fields.into_iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        text(out, name);
        out.push(':');
        value.write(out);
    }
    out.push('}');
}

fn text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..='\x1f' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

macro_rules! as_displayed {
    ($($type:ty)*) => {$(
        impl Json for $type {
            fn write(&self, out: &mut String) {
                _ = write!(out, "{self}");
            }
        }
    )*};
}

as_displayed!(bool i64 u32 u64 usize);

impl Json for f64 {
    /// With the fewest digits that are read as the same number, and an exponent if it is very large or small. JSON has no others than finite
    /// numbers.
    fn write(&self, out: &mut String) {
        match self.is_finite() {
            true => _ = write!(out, "{self:?}"),
            false => out.push_str("null"),
        }
    }
}

impl Json for String {
    fn write(&self, out: &mut String) {
        text(out, self);
    }
}

impl<T: Json> Json for Option<T> {
    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, out: &mut String) {
        out.push('[');
        for (number, value) in self.iter().enumerate() {
            if number > 0 {
                out.push(',');
            }
            value.write(out);
        }
        out.push(']');
    }
}

impl Json for MetaMap {
    fn write(&self, out: &mut String) {
        let pairs = self.iter();
        object(out, pairs.map(|(name, value)| (name.as_str(), value as _)));
    }
}

impl Json for WholeTicks {
    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

impl Json for SumOfSquares {
    fn write(&self, out: &mut String) {
        _ = write!(out, "\"{}\"", self.0);
    }
}

impl Json for RecordedValue {
    fn write(&self, out: &mut String) {
        match self {
            Self::Float(value) => value.write(out),
            Self::Text(value) => value.write(out),
            value => _ = write!(out, "{value}"),
        }
    }
}

#[cfg(all(test, feature = "json"))]
mod tests {
    use super::*;

    /// What is written is what serde_json writes, but for the digits of large and small floating-point numbers.
    #[test]
    fn values_are_read_as_what_they_were() {
        fn check<T: Json + serde::Serialize>(value: T) {
            let mut out = String::new();
            value.write(&mut out);
            let read: serde_json::Value = serde_json::from_str(&out).unwrap();
            let wanted = serde_json::to_value(&value).unwrap();
            assert_eq!(read, wanted, "{out}");
        }
        for number in [0.0, -0.0, 0.1, 1.0, 1e16, -2.5e-7, 1e300, 5e-324, f64::MAX] {
            check(number);
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            check(number);
        }
        check(vec![i64::MIN, i64::MAX]);
        check(vec![Some(u64::MAX), None]);
        check(SumOfSquares(u128::MAX));
        check(WholeTicks(i64::MIN));
        let all: String = (0..0x250).filter_map(char::from_u32).collect();
        check(MetaMap::from([(all.clone(), "🦀\u{2028}".to_owned())]));
        check(vec![
            RecordedValue::Bool(true),
            RecordedValue::Unsigned(u64::MAX),
            RecordedValue::Signed(-1),
            RecordedValue::Float(0.5),
            RecordedValue::Text(all),
        ]);
        check(crate::Report::default());
    }

    #[test]
    fn keys_that_an_earlier_version_did_not_write_have_their_default() {
        let sums = crate::CallsiteSums {
            samples: 3,
            ..crate::CallsiteSums::default()
        };
        let mut written = serde_json::to_value(&sums).unwrap();
        assert!(
            written
                .as_object_mut()
                .unwrap()
                .remove("switches")
                .is_some()
        );
        let read: crate::CallsiteSums = serde_json::from_value(written).unwrap();
        assert_eq!(read, sums);
    }
}
