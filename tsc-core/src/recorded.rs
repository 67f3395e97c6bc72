//! The values that `record = …` accepts. This is compiled in every build, so that a wrong expression is always an error.

/// The most bytes of a text that are kept.
pub(crate) const TEXT_LEN: usize = 32;

/// What is kept of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// The beginning of a text.
    Text(ShortText),
}

/// The beginning of a text: whole characters in at most 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortText {
    pub(crate) len: u8,
    pub(crate) bytes: [u8; TEXT_LEN],
}

impl ShortText {
    pub(crate) fn of(text: &str) -> Self {
        // `str::floor_char_boundary` needs Rust 1.91.
        let mut len = text.len().min(TEXT_LEN);
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        let mut bytes = [0; TEXT_LEN];
        bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
        Self {
            len: len as u8,
            bytes,
        }
    }

    #[cfg_attr(not(measuring), allow(dead_code))]
    pub(crate) fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }
}

/// A value that `record = …` accepts.
#[diagnostic::on_unimplemented(
    message = "`record = …` keeps an integer of up to 64 bits, a floating-point number, a `bool`, a text, or an `Option` of these, not `{Self}`",
    label = "this value cannot be kept"
)]
pub trait Recorded {
    /// What is kept of it; `None` if there is nothing.
    fn value(self) -> Option<Value>;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Recorded for $integer {
            #[inline]
            fn value(self) -> Option<Value> {
                let unsigned = u64::try_from(self).map(Value::Unsigned).ok();
                unsigned.or_else(|| i64::try_from(self).map(Value::Signed).ok())
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

macro_rules! recorded {
    ($($(#[$attr:meta])* $type:ty: |$value:ident| $kept:expr;)*) => {$(
        $(#[$attr])*
        impl Recorded for $type {
            fn value(self) -> Option<Value> {
                let $value = self;
                $kept
            }
        }
    )*};
}

recorded! {
    f32: |number| f64::from(number).value();
    f64: |number| Some(Value::Float(number));
    bool: |truth| Some(Value::Bool(truth));
    &str: |text| Some(Value::Text(ShortText::of(text)));
    #[cfg(not(target_os = "none"))]
    String: |text| text.as_str().value();
    #[cfg(not(target_os = "none"))]
    &String: |text| text.as_str().value();
}

impl<T: Recorded> Recorded for Option<T> {
    fn value(self) -> Option<Value> {
        self.and_then(T::value)
    }
}

/// What is kept of a value.
#[cfg(measuring)]
pub fn recorded(value: impl Recorded) -> Option<Value> {
    value.value()
}

/// In builds that do not measure, this call is behind `if false`, so that the expression is checked but not executed.
pub fn check_recorded(_value: impl Recorded) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: &str) -> String {
        match of.value() {
            Some(Value::Text(text)) => text.as_str().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(text(""), "");
        assert_eq!(text("GET /index"), "GET /index");
        assert_eq!(text(&"x".repeat(33)), "x".repeat(32));
        // The eleventh of these would end after 33 bytes.
        assert_eq!(text(&"€".repeat(20)), "€".repeat(10));
    }

    #[test]
    fn integers_keep_their_sign() {
        assert_eq!(u64::MAX.value(), Some(Value::Unsigned(u64::MAX)));
        assert_eq!(i64::MIN.value(), Some(Value::Signed(i64::MIN)));
        assert_eq!(7_i8.value(), 7_u64.value());
        assert_eq!(Some(Some(-1)).value(), Some(Value::Signed(-1)));
        assert_eq!(None::<&str>.value(), None);
    }
}
