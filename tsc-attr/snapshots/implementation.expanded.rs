impl<T> Stack<T> {
    const EMPTY: usize = { 0 };
    const fn len(&self) -> usize {
        self.0.len()
    }
    #[inline(always)]
    fn push(&mut self, value: T) {
        let mut __slot = ::tsc_runtime::__private::Slot::new();
        let __probe = {
            static __CALLSITE: ::tsc_runtime::__private::Callsite =
                ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Lfence>(
                    ::tsc_runtime::__private::meta(
                        &|| {},
                        ::tsc_runtime::__private::module_path!(),
                        0,
                    )
                    .named("stack::push"),
                );
            ::tsc_runtime::__private::Probe::<::tsc_runtime::__private::Lfence>::start(
                &__CALLSITE,
                &mut __slot,
            )
        };
        self.0.push(value)
    }
    fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }
    #[inline(never)]
    #[must_use]
    fn top(&self) -> Option<&T> {
        let mut __slot = ::tsc_runtime::__private::Slot::new();
        let __probe = {
            static __CALLSITE: ::tsc_runtime::__private::Callsite =
                ::tsc_runtime::__private::Callsite::new::<::tsc_runtime::__private::Mfence>(
                    ::tsc_runtime::__private::meta(
                        &|| {},
                        ::tsc_runtime::__private::module_path!(),
                        0,
                    )
                    .named("stack::top"),
                );
            ::tsc_runtime::__private::Probe::<::tsc_runtime::__private::Mfence>::start(
                &__CALLSITE,
                &mut __slot,
            )
        };
        ::tsc_runtime::__private::result('__tail: {
            if false {
                break '__tail ::tsc_runtime::__private::absurd();
            }
            self.0.last()
        })
    }
}
