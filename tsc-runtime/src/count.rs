//! What `bytes = …` and `items = …` count with. Here whether anything measures or not: a bad expression is an error in every build.

/// What `bytes = …` and `items = …` may be: an integer. A negative one counts nothing.
#[diagnostic::on_unimplemented(
    message = "`bytes = …` and `items = …` count with an integer, not with `{Self}`",
    label = "expected an integer"
)]
pub trait Count {
    /// The integer.
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

/// Stands behind `if false` where nothing is measured, so that the expression is checked and costs nothing.
pub fn check_count(_count: impl Count) {}
