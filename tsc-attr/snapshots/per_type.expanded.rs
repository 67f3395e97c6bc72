#[inline(never)]
fn convert<T: Into<u64>>(value: T) -> u64 {
    let mut __slot = ::tsc_runtime::__private::Slot::new();
    let __probe = {
        static __CALLSITES: ::tsc_runtime::__private::Instances =
            ::tsc_runtime::__private::Instances::new::<::tsc_runtime::__private::Lfence>(
                ::tsc_runtime::__private::meta(&|| {}, ::tsc_runtime::__private::module_path!(), 0),
            );
        ::tsc_runtime::__private::Probe::<::tsc_runtime::__private::Lfence>::start(
            __CALLSITES.of(::tsc_runtime::__private::path_of(&|| {})),
            &mut __slot,
        )
    };
    ::tsc_runtime::__private::result('__tail: {
        if false {
            break '__tail ::tsc_runtime::__private::absurd();
        }
        value.into()
    })
}
