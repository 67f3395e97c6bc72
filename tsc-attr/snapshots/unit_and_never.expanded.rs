mod unit_and_never {
    #[inline(never)]
    fn unit(text: &str) {
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
        println!("{text}");
    }
    #[inline(never)]
    fn never() -> ! {
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
        loop {}
    }
    #[inline(never)]
    fn hidden() -> Result<impl Iterator<Item = u32>, String> {
        let mut __slot = ::tsc_runtime::__private::Slot::new();
        let __probe = {
            static __CALLSITE: ::tsc_runtime::__private::Callsite =
                ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Lfence>(
                    ::tsc_runtime::__private::meta(
                        &|| {},
                        ::tsc_runtime::__private::module_path!(),
                        0,
                    )
                    .returning_iterator(),
                );
            ::tsc_runtime::__private::Probe::<::tsc_runtime::__private::Lfence>::start(
                &__CALLSITE,
                &mut __slot,
            )
        };
        Ok(0..3)
    }
    #[inline(never)]
    fn reference(text: &String) -> &str {
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
        &text[1..]
    }
}
