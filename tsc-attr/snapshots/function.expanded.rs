#[inline(never)]
#[doc = " Documented."]
pub(crate) fn sum<'a, T: Into<u64> + Copy>(values: &'a [T], mut start: u64, unused: u8) -> u64
where
    T: 'a,
{
    #![allow(clippy::cast_lossless)]
    use std::ops::AddAssign;
    let mut __slot = ::tsc_runtime::__private::Slot::new();
    let __probe = {
        static __CALLSITE: ::tsc_runtime::__private::Callsite =
            ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Lfence>(
                ::tsc_runtime::__private::meta(&|| {}, ::tsc_runtime::__private::module_path!(), 0),
            );
        ::tsc_runtime::__private::Probe::<::tsc_runtime::__private::Lfence>::start(
            &__CALLSITE,
            &mut __slot,
        )
    };
    for value in values {
        start.add_assign((*value).into());
    }
    if start > 100 {
        return 100;
    }
    ::tsc_runtime::__private::result('__tail: {
        if false {
            break '__tail ::tsc_runtime::__private::absurd();
        }
        start + 1
    })
}
