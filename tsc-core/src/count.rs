//! The integers that `bytes = …` and `items = …` accept. This is compiled in every build, so that a wrong expression is always an error.

/// An integer that `bytes = …` and `items = …` accept. A negative one counts as 0.
#[diagnostic::on_unimplemented(
    message = "`bytes = …` and `items = …` count with an integer, not with `{Self}`",
    label = "expected an integer"
)]
pub trait Count {
    /// The integer, or 0 if it is negative.
    fn count(self) -> u64;
}

macro_rules! count {
    ($($integer:ty)*) => {$(
        impl Count for $integer {
            #[inline]
            fn count(self) -> u64 {
                u64::try_from(self).unwrap_or(0)
            }
        }
    )*};
}

count!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// In builds that do not measure, this call is behind `if false`, so that the expression is checked but not executed.
pub fn check_count(_count: impl Count) {}
