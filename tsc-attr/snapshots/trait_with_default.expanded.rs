trait Shape {
    fn area(&self) -> f64;
    #[inline(never)]
    fn double(&self) -> f64 {
        let mut __slot = ::tsc_runtime::__private::Slot::new();
        let __probe = {
            static __CALLSITE: ::tsc_runtime::__private::Callsite =
                ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Lfence>(
                    ::tsc_runtime::__private::meta(
                        &|| {},
                        ::tsc_runtime::__private::module_path!(),
                        0,
                    ),
                );
            ::tsc_runtime::__private::Probe::<::tsc_runtime::__private::Lfence>::start(
                &__CALLSITE,
                &mut __slot,
            )
        };
        ::tsc_runtime::__private::result('__tail: {
            if false {
                break '__tail ::tsc_runtime::__private::absurd();
            }
            self.area() * 2.0
        })
    }
}
