#[cycles]
/// Documented.
#[inline]
pub(crate) fn sum<'a, T: Into<u64> + Copy>(values: &'a [T], mut start: u64, unused: u8) -> u64
where
    T: 'a,
{
    #![allow(clippy::cast_lossless)]
    use std::ops::AddAssign;
    for value in values {
        start.add_assign((*value).into());
    }
    if start > 100 {
        return 100;
    }
    start + 1
}
